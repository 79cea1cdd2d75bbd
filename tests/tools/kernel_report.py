"""tools/kernel-report: on recorded texts, on stand-ins for nvcc and nvdisasm, and against the programming guide's limits."""

import importlib.machinery
import importlib.util
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "cli"), str(HERE.parent.parent / "tools")]

import tool
from report import built, loops, mix, occupancy, sass, tables
from tool import Result, expect, place, test, write

RECORDED = HERE / "recorded"
SASS = (RECORDED / "kernels.sass").read_text()
PTXAS = (RECORDED / "ptxas.txt").read_text()
F16 = "gdnn_direct_fwd_nchw_f16"
RING = "gdnn_direct_fwd_nhwc_f16"
STRAIGHT = "gdnn_direct_fwd_nhwc_f32"


def function(lines, name="k"):
    """A function of the lines of a body; a line that ends with a colon is a label."""
    text, address = "\t.section\t.text.%s,\"ax\",@progbits\n%s:\n" % (name, name), 0
    for line in lines:
        if line.endswith(":"):
            text += line + "\n"
        else:
            text += "        /*%04x*/ %30s ;\n" % (address, line)
            address += 16
    return sass.parse(text)[0]


def body(*lines):
    return function(lines).instructions


def counts(*lines):
    return {name: n for name, n in mix.count(body(*lines)).items() if n}


def main_loop(lines):
    return loops.main_loop(function(lines), mix.work, mix.accesses)


# ---- disassembly

@test
def functions_instructions_and_labels_are_read():
    functions = {f.name: f for f in sass.parse(SASS)}
    expect(list(functions) == [F16, RING, STRAIGHT], list(functions))
    expect([len(f.instructions) for f in functions.values()] == [24, 15, 6], functions)
    labels = functions[F16].labels
    expect(labels[".L_x_1"] == 0x60 and labels[".L_x_3"] == 0x120 and ".L_x_9" not in labels, labels)
    exit = functions[F16].instructions[2]
    expect(exit == sass.Instruction(0x20, "@P0", "EXIT", ()), exit)
    load = functions[F16].instructions[7]
    expect(load.operands == ("R5", "desc[UR4][R6.64+0x2]") and load.predicate == "", load)
    expect(sass.parse("") == [] and sass.parse("no disassembly\n\x00\n") == [], "nothing")


@test
def what_instructions_read_and_write():
    def io(line):
        instruction, = body(line)
        return sorted(sass.reads(instruction)), sorted(sass.writes(instruction))
    expect(io("LDG.E.128 R4, desc[UR4][R2.64]") == (["R2", "R3", "UR4"], ["R4", "R5", "R6", "R7"]), "LDG")
    expect(io("LDG.E.U16.CONSTANT.SYS R4, [R2+0x2]") == (["R2", "R3"], ["R4"]), "LDG of sm_75")
    expect(io("LDG.E R4, desc[UR4][R2.U32+UR6]") == (["R2", "UR4", "UR6", "UR7"], ["R4"]), "LDG with a uniform base")
    expect(io("STG.E.64 desc[UR4][R2.64], R8") == (["R2", "R3", "R8", "R9", "UR4"], []), "STG")
    expect(io("IADD3 R2, P1, R4, R6.reuse, RZ") == (["R4", "R6"], ["R2"]), "IADD3")
    expect(io("IMAD.WIDE R2, R0, 0x2, R10")[1] == ["R2", "R3"], "IMAD.WIDE")
    expect(io("ISETP.GE.AND P0, PT, R20, R21, PT") == (["R20", "R21"], []), "ISETP")
    expect(io("SHFL.DOWN PT, R5, R6, 0x10, 0x1f") == (["R6"], ["R5"]), "SHFL")
    expect(io("DFMA R4, R6, R8, R4") == (["R4", "R5", "R6", "R7", "R8", "R9"], ["R4", "R5"]), "DFMA")
    expect(io("LDSM.16.M88.4 R8, [R14]")[1] == ["R10", "R11", "R8", "R9"], "LDSM")
    expect(io("IADD.64 R2, R4, UR6") == (["R4", "R5", "UR6", "UR7"], ["R2", "R3"]), "IADD.64")
    expect(io("BRA.U UP1, `(.L_x_0)") == ([], []), "BRA")


# ---- loops

@test
def the_main_loop_is_the_inner_one_with_the_work():
    found = loops.main_loop(sass.parse(SASS)[0], mix.work, mix.accesses)
    expect(found.label == ".L_x_1" and len(found.own) == 11 and found.depth == 2, found)
    outer = next(loop for loop in loops.find(sass.parse(SASS)[0]) if loop.label == ".L_x_0")
    expect(len(outer.own) == 5 and len(outer.all) == 16 and outer.depth == 1, outer)


@test
def work_outside_of_inner_loops_counts_for_the_outer_one():
    found = main_loop([".A:", "FFMA R0, R1, R2, R0", "FFMA R3, R1, R2, R3", ".B:", "FADD R4, R4, R5", "@P0 BRA `(.B)",
                       "FFMA R6, R1, R2, R6", "@P1 BRA `(.A)", "EXIT"])
    expect(found.label == ".A" and found.own == [0, 1, 4, 5] and found.all == [0, 1, 2, 3, 4, 5], found)


@test
def a_loop_has_its_far_blocks_and_no_others():
    found = main_loop(["MOV R0, RZ", ".A:", "@P0 BRA `(.FAR)", ".BACK:", "FFMA R0, R1, R2, R0", "@P1 BRA `(.A)", "EXIT",
                       ".FAR:", "MUFU.RCP R1, R1", "BRA `(.BACK)"])
    expect(found.label == ".A" and found.own == [1, 2, 3, 5, 6], found)
    for branch in "BRA.DIV UR4, `(.OUT)", "BRA.U !UP0, `(.OUT)", "@!P3 BRA `(.OUT)":
        found = main_loop([".A:", "FFMA R0, R1, R2, R0", "@P2 BRA `(.B)", "FADD R0, R0, R3", branch, ".B:", "@P1 BRA `(.A)",
                           ".OUT:", "EXIT"])
        expect(found.own == [0, 1, 2, 3, 4], branch, found)


@test
def no_loops_where_there_are_none():
    straight = sass.parse(SASS)[2]
    expect(loops.main_loop(straight, mix.work, mix.accesses) is None, "the endless branch behind a kernel is no main loop")
    expect(loops.find(function([])) == [], "nothing")
    jump = ["@P0 BRA `(.IN)", ".A:", "FFMA R0, R1, R2, R0", ".IN:", "FADD R0, R0, R1", "@P1 BRA `(.A)", "EXIT"]
    expect(loops.find(function(jump)) == [], "a region with two ways in")
    expect(loops.find(function(["BRA `(elsewhere)", "EXIT"])) == [], "a branch that leaves the function")


@test
def without_arithmetic_the_loop_with_the_accesses():
    found = main_loop([".A:", "IADD3 R0, R0, 0x1, RZ", "@P0 BRA `(.A)", ".B:", "LDG.E R1, desc[UR4][R2.64]",
                       "STG.E desc[UR4][R4.64], R1", "@P0 BRA `(.B)", "EXIT"])
    expect(found.label == ".B" and len(found.own) == 3, found)


# ---- mix

@test
def the_mix_of_recorded_loops():
    def of(number):
        f = sass.parse(SASS)[number]
        loop = loops.main_loop(f, mix.work, mix.accesses)
        return {k: n for k, n in mix.count([f.instructions[i] for i in loop.own]).items() if n}
    expect(of(0) == {"global": 2, "local": 1, "fp32": 1, "convert": 2, "integer": 1, "address": 2, "control": 2}, of(0))
    expect(of(1) == {"global": 2, "shared": 2, "mma": 1, "address": 2, "control": 1, "other": 3}, of(1))


@test
def addresses_are_followed_around_the_loop_and_no_further():
    expect(counts("LDG.E R8, desc[UR4][R2.64]", "IMAD.WIDE R2, R4, R5, R6", "IADD3 R4, R7, R9, RZ", "IADD3 R4, R7, 0x1, RZ")
           == {"global": 1, "address": 2, "integer": 1}, "the first IADD3 is overwritten before it is used")
    expect(counts("LDG.E R8, desc[UR4][R2.64]", "IADD3 R2, R4, R5, RZ", "@P0 IADD3 R2, R6, R5, RZ")
           == {"global": 1, "address": 2}, "a predicated one leaves what was before it")
    expect(counts("STS [R2], R8", "IADD3 R8, R4, R5, RZ") == {"shared": 1, "integer": 1}, "what is stored is no address")
    expect(counts("STS [UR6+R2], R8", "UIADD3 UR6, UR7, 0x1, URZ", "MOV R2, R3") == {"shared": 1, "address": 2}, "uniform")


@test
def classes_of_single_instructions():
    for line, kind in (
            ("HFMA2.MMA R0, -RZ, RZ, 0, 0", "integer"), ("HFMA2 R0, R1, R2, R3", "half"), ("HFMA2 R0, -RZ, R2, R3", "half"),
            ("HADD2.F32 R0, -RZ, R1.H0_H0", "convert"), ("F2FP.F16.F32.PACK_AB R0, R1, R2", "convert"),
            ("FFMA2 R0, R2, R4, R0", "fp32"), ("DFMA R0, R2, R4, R0", "fp64"), ("IMAD.MOV.U32 R0, RZ, RZ, R1", "integer"),
            ("CS2R R4, SRZ", "integer"), ("PLOP3.LUT P0, PT, P1, P2, PT, 0x8, 0x0", "control"),
            ("CALL.REL.NOINC `(f)", "control"), ("MUFU.RCP R0, R1", "other"), ("LDCU.64 UR4, c[0x0][0x358]", "other"),
            ("STL.64 [R1+0x8], R2", "local"), ("RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R5", "global"),
            ("NEW.THING R0, R1", "other")):
        instruction, = body(line)
        expect(mix.kind(instruction) == kind, line, mix.kind(instruction))


@test
def work_is_floating_point_operations():
    for line, work in {"FFMA R0, R1, R2, R0": 2, "FADD R0, R1, R2": 1, "FFMA2 R0, R2, R4, R0": 4,
                       "HFMA2 R0, R1, R2, R0": 4, "HADD2 R0, R1, R2": 2, "HMMA.16816.F32 R0, R4, R8, R0": 128, "HMMA.1688.F32 R0, R4, R8, R0": 64,
                       "FMNMX R0, R1, R2, PT": 0, "HADD2.F32 R0, -RZ, R1.H0_H0": 0, "HFMA2.MMA R0, -RZ, RZ, 0, 0": 0,
                       "IMAD R0, R1, R2, R0": 0}.items():
        instruction, = body(line)
        expect(mix.work(instruction) == work, line, mix.work(instruction))


# ---- bytes in flight

@test
def loads_are_in_flight_until_they_are_used():
    load = "LDG.E.64 R%d, desc[UR4][R2.64]"
    def flight(*lines, rounds=8):
        found = mix.in_flight(body(*lines), rounds)
        return found["bytes"], found["loads"]
    expect(flight(load % 4, load % 6, "FADD R0, R5, R0", load % 8, "FADD R0, R7, R8") == (16, 2), "two, then used")
    expect(flight(load % 4, load % 6, "FADD R0, R6, R0", load % 8, load % 10, "FADD R0, R4, R0", "FADD R8, R8, R10")
           == (16, 2), "with one all before it are waited for")
    expect(flight(load % 4, "FADD R0, R4, R0", load % 6, "FADD R0, R6, R0") == (8, 1), "one at a time")
    expect(flight("FADD R0, R4, R0", load % 4, load % 6, "FADD R1, R8, R1", "FADD R0, R6, R0", load % 8) == (24, 3),
           "loads for the next round")
    expect(flight(load % 4, load % 4) == (8, 1), "a result that is overwritten was waited for")
    expect(flight("LDG.E.U8 R4, desc[UR4][R2.64]", "LDG.E.ENL2.256 R8, R12, desc[UR4][R2.64]") == (33, 2), "widths")
    expect(flight("FADD R0, R1, R2") == (0, 0), "none")


@test
def copies_are_in_flight_until_a_wait():
    copy = "LDGSTS.E.BYPASS.128 [R2], desc[UR4][R4.64]"
    def flight(*lines):
        return mix.in_flight(body(*lines))["bytes"]
    expect(flight(copy, "LDGDEPBAR", "DEPBAR.LE SB0, 0x0") == 16, "no ring")
    expect(flight(copy, "LDGDEPBAR", "DEPBAR.LE SB0, 0x3") == 64, "a ring of four")
    expect(flight(copy, copy, "LDGDEPBAR", "DEPBAR.LE SB0, 0x1") == 64, "two a group")
    expect(flight(copy, "LDGDEPBAR") == 16, "a wait behind the loop")
    expect(mix.in_flight([i for i in sass.parse(SASS)[1].instructions]) == {"bytes": 72, "loads": 6}, "recorded")


# ---- ptxas, ELF, kernels.def, flags

@test
def what_ptxas_says():
    found = built.resources(PTXAS)
    expect(sorted(found) == sorted([F16, RING, STRAIGHT]), found)
    expect(found[F16] == {"registers": 64, "spill_stores": 24, "spill_loads": 40, "stack": 16, "static": 0, "barriers": 0},
           found[F16])
    expect(found[RING] == {"registers": 65, "spill_stores": 0, "spill_loads": 0, "stack": 0, "static": 49152,
                           "barriers": 1}, found[RING])
    expect(found[STRAIGHT]["registers"] == 32 and found[STRAIGHT]["static"] == 0, found[STRAIGHT])
    expect(built.resources("") == {} and built.resources("ptxas info    : Used 9 registers\n") == {}, "nothing")


def cubin(sizes):
    """An ELF file with sections .text.<name> of these sizes."""
    names = b"\0" + b"".join(b".text." + name.encode() + b"\0" for name in sizes) + b".shstrtab\0"
    start = 64 + len(names)
    offset, entries = 1, [b"\0" * 64]
    for name, size in sizes.items():
        entries.append(struct.pack("<IIQQQQIIQQ", offset, 1, 6, 0, start, size, 0, 0, 128, 0))
        offset += len(".text." + name) + 1
    entries.append(struct.pack("<IIQQQQIIQQ", offset, 3, 0, 0, 64, len(names), 0, 0, 1, 0))
    head = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, start, 0, 64, 0, 0, 64,
                                                           len(entries), len(entries) - 1)
    return head + names + b"".join(entries)


@test
def code_sizes_are_those_of_the_sections():
    sizes = {F16: 384, RING: 1152}
    expect(built.code_sizes(cubin(sizes)) == sizes, built.code_sizes(cubin(sizes)))
    try:
        built.code_sizes(b"not an ELF file")
        expect(False, "accepted")
    except built.Wrong as error:
        expect("ELF" in str(error), error)


@test
def kernels_and_flags_are_those_of_the_build():
    a = 'GDNN_KERNEL(f, fast, fast, FWD, NHWC, F16 | BF16, PLAIN | FULL, TILE(1, 2, 1, 2, 8), ALL(a(p), b(p)), RING(p, 2))\n'
    b = ' * GDNN_KERNEL(file, in a comment)\nGDNN_KERNEL(f, fast_too, fast_too, FWD, ANY, F32, FULL, TILE(1), ALWAYS, GRID(256, 1))\n'
    c = 'GDNN_KERNEL(f, fast_back, fast, TURNED, NHWC, F16 | BF16, PLAIN | FULL, TILE(1), ALWAYS, RING(p, 2))\n'
    kernels = built.kernel_list(a + b + c)
    expect([k.name for k in kernels] == ["fast", "fast_too", "fast_back"], kernels)
    expect(kernels[0].instances == ["gdnn_fast_nhwc_f16", "gdnn_fast_nhwc_f16_plain", "gdnn_fast_nhwc_bf16",
                                    "gdnn_fast_nhwc_bf16_plain"], kernels[0])
    expect(kernels[0].threads is None and kernels[0].dynamic is None, kernels[0])
    expect(kernels[1].instances == ["gdnn_fast_too_nchw_f32", "gdnn_fast_too_nhwc_f32"] and kernels[1].threads == 256
           and kernels[1].dynamic == 0, kernels[1])
    expect(not kernels[2].instances, "it runs as another kernel")
    expect(built.kernel_of(kernels, "gdnn_fast_too_nhwc_f32_full").name == "fast_too", "the longest name")
    expect(built.kernel_of(kernels, "gdnn_faster_nhwc_f32") is None, "another kernel")
    flags = built.compiler_flags((built.KERNELS / "meson.build").read_text())
    expect("-O3" in flags and "-std=c++17" in flags and flags[flags.index("-I") + 1] == str(built.KERNELS), flags)
    expect(not any("warn" in flag or flag in ("-Werror", "-Xptxas") for flag in flags), flags)
    real = built.kernel_list((built.KERNELS / "kernels.def").read_text())
    expect(len(real) >= 3 and all(k.threads for k in real if k.name.startswith("direct")), real)


# ---- occupancy

@test
def occupancy_by_hand():
    # arch, threads, registers, shared, barriers: blocks, limits. A warp of r registers takes r * 32, rounded up to 256, of the
    # 16384 of a quarter of an SM; a block its shared memory, and 1 KiB from sm_80 on, of 228, 164, 100 or 64 KiB.
    for arch, threads, registers, shared, barriers, blocks, limits in [
            (90, 256, 64, 0, 1, 4, ["registers"]),             # 8 warps a quarter, 32 an SM
            (90, 256, 65, 0, 1, 3, ["registers"]),             # 72 * 32 = 2304: 7 a quarter, 28 / 8
            (90, 256, 32, 0, 0, 8, ["registers", "warps"]),    # 16 a quarter = 64 warps
            (90, 32, 16, 0, 0, 32, ["blocks"]),
            (90, 128, 32, 49152, 0, 4, ["shared"]),            # 233472 / 50176 = 4.65
            (90, 1024, 64, 0, 0, 1, ["registers"]),
            (90, 1024, 65, 0, 0, 0, ["registers"]),            # more than an SM has
            (90, 128, 32, 232448, 0, 1, ["shared"]),           # 227 KiB, the most
            (90, 128, 32, 232449, 0, 0, ["shared"]),
            (80, 256, 32, 40960, 0, 4, ["shared"]),            # 167936 / 41984 = 4
            (86, 256, 32, 0, 0, 6, ["warps"]),                 # 48 / 8
            (86, 64, 16, 0, 0, 16, ["blocks"]),
            (86, 128, 32, 50176, 0, 2, ["shared"]),            # 102400 / 51200 = 2
            (86, 128, 32, 50177, 0, 1, ["shared"]),
            (75, 256, 64, 0, 0, 4, ["registers", "warps"]),    # 32 / 8
            (75, 128, 32, 65536, 0, 1, ["shared"]),
            (89, 32, 16, 0, 0, 24, ["blocks"]),
            (120, 256, 32, 0, 0, 6, ["warps"]),
            (120, 32, 16, 0, 3, 8, ["barriers"]),
            (100, 96, 40, 0, 0, 16, ["registers"])]:           # 1280: 12 a quarter, 48 / 3
        found = occupancy.occupancy(arch, threads, registers, shared, barriers)
        expect((found["blocks"], found["limits"]) == (blocks, limits), arch, threads, registers, shared, found)
    expect(occupancy.occupancy(90, 256, 64, 0)["occupancy"] == 0.5, "half of 64 warps")


# ---- the program, on stand-ins

FAKE_NVCC = """#!/bin/sh
case "$*" in *--version*) echo stand-in; exit ;; esac
[ -z "$FAKE_BROKEN" ] || { echo "direct_fwd.cu(1): error: broken" >&2; exit 2; }
echo "$*" >>"$FAKE/calls"
while [ $# -gt 0 ]; do [ "$1" != -o ] || out=$2; shift; done
/bin/cp "$FAKE/cubin" "$out"
/bin/cat "$FAKE/ptxas" >&2
"""
FAKE_NVDISASM = "#!/bin/sh\n/bin/cat \"$FAKE/sass\"\n"


def stand_ins(name, nvcc=True, nvdisasm=True):
    """A folder with the programs that are asked for; what they say can be changed in it."""
    folder = Path(place(name))
    folder.mkdir()
    write(name + "/cubin", cubin({F16: 384, RING: 1152, STRAIGHT: 128}))
    write(name + "/ptxas", PTXAS)
    write(name + "/sass", SASS)
    for program, wanted, text in ("nvcc", nvcc, FAKE_NVCC), ("nvdisasm", nvdisasm, FAKE_NVDISASM):
        if wanted:
            write("%s/%s" % (name, program), text)
            os.chmod(folder / program, 0o755)
    return folder


def report(folder, *arguments, **env):
    """Runs the program where there is no CUDA but in the folder."""
    start = "import runpy, sys; sys.path.insert(0, %r); from report import built; built.PLACES = []; " \
            "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')" % str(HERE.parent.parent / "tools")
    return Result(subprocess.run(
        [sys.executable, "-B", "-c", start, tool.TOOL, "--folder", str(folder / "build"), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
        env={"PATH": str(folder), "FAKE": str(folder), **env}))


def records(folder, *arguments):
    path = place("records.json")
    result = report(folder, "--json", path, *arguments)
    tool.expect_run(result, 0)
    return json.loads(Path(path).read_text())


@test
def a_report():
    folder = stand_ins("report")
    rows = {row["kernel"]: row for row in records(folder, "--kernel", "direct_fwd_n")}
    expect(sorted(rows) == [F16, RING, STRAIGHT], rows)
    one = rows[F16]
    expect((one["registers"], one["spill_stores"], one["spill_loads"], one["code"]) == (64, 24, 40, 384), one)
    expect((one["threads"], one["blocks"], one["occupancy"], one["limits"]) == (256, 4, 0.5, ["registers"]), one)
    expect(one["loop"] == {"label": ".L_x_1", "instructions": 11, "of": 24, "depth": 2, "work": 2}, one)
    expect((one["flight_loads"], one["flight_bytes"], one["flight"]) == (2, 4, 4 * 256 * 4), one)
    expect(sum(one["mix"].values()) == 11 and one["mix"]["local"] == 1, one)
    ring = rows[RING]
    expect((ring["shared_static"], ring["shared_dynamic"], ring["shared_dynamic_max"]) == (49152, 0, 232448 - 49152), ring)
    expect(ring["blocks"] == 3 and ring["flight"] == 72 * 256 * 3, ring)
    straight = rows[STRAIGHT]
    expect(straight["loop"]["label"] is None and straight["loop"]["instructions"] == 6, straight)
    expect(straight["flight"] == 20 * 256 * 8 and straight["limits"] == ["registers", "warps"], straight)


@test
def a_table():
    result = report(stand_ins("table"), "--kernel", "direct_fwd_n", "--arch", "90,80")
    tool.expect_run(result, 0)
    lines = result.out.splitlines()
    expect(lines[0] == "sm_90" and "sm_80" in lines, lines)
    head, row = lines[1].split(), lines[2].split()
    expect(row[0] == "direct_fwd_nchw_f16" and row[head.index("regs")] == "64" and row[head.index("spill")] == "64", row)
    end = lines[1].index(" code ") + len(" code")
    expect([line[:end].split()[-1] for line in lines[2:5]] == ["384", "1152", "128"] and
           all(line[end] == " " for line in lines[2:5]), "columns are not aligned", *lines[1:5])
    expect("2 18%" in lines[2] and "mma" in lines[1] and "fp64" not in lines[1], lines[1:3])
    expect("2x2B" in lines[2] and "6x12B" in lines[3] and "2x10B" in lines[4], lines)


@test
def kernels_are_compiled_as_the_build_does_and_once():
    folder = stand_ins("once")
    records(folder, "--kernel", F16, "--arch", "80")
    records(folder, "--kernel", F16, "--arch", "80")
    calls = (folder / "calls").read_text().splitlines()
    expect(len(calls) == 1, calls)
    for piece in ("-O3", "arch=compute_80,code=sm_80", "-lineinfo", "direct_fwd.cu"):
        expect(piece in calls[0], calls)


@test
def a_changed_header_means_to_compile_again():
    folder = stand_ins("header")
    kernels = Path(place("header_kernels"))
    kernels.mkdir()
    for name in "meson.build", "direct_fwd.cu", "conv.h":
        (kernels / name).write_text((built.KERNELS / name).read_text())
    old, built.KERNELS = built.KERNELS, kernels
    os.environ["FAKE"] = str(folder)
    try:
        for text, calls in ("/* one */", 1), ("/* one */", 1), ("/* two */", 2):
            (kernels / "conv.h").write_text(text)
            built.compile_kernel(str(folder / "nvcc"), "direct_fwd", 90, folder / "build")
            made = len((folder / "calls").read_text().splitlines())
            expect(made == calls, text, made)
    finally:
        built.KERNELS = old
        del os.environ["FAKE"]


@test
def the_mix_leaves_out_inner_loops_and_loads_in_them_count():
    facts = load_program().code_facts(function([
        ".A:", "FFMA R0, R1, R2, R0", "FFMA R3, R1, R2, R3", ".B:", "LDG.E.128 R4, desc[UR4][R8.64]", "@P0 BRA `(.B)",
        "@P1 BRA `(.A)", "EXIT"]))
    expect(facts["loop"] == {"label": ".A", "instructions": 3, "of": 6, "depth": 1, "work": 4}, facts)
    expect(facts["mix"]["fp32"] == 2 and facts["mix"]["global"] == 0 and facts["flight_bytes"] == 16, facts)


@test
def one_kernel_by_a_part_of_its_name():
    rows = records(stand_ins("part"), "--kernel", "nhwc_f16")
    expect([row["kernel"] for row in rows] and {row["kernel"] for row in rows} == {RING}, rows)


@test
def without_a_disassembler_all_but_the_loop():
    folder = stand_ins("plain", nvdisasm=False)
    result = report(folder, "--kernel", F16)
    tool.expect_run(result, 0)
    expect("No nvdisasm" in result.out and "--install" in result.out and "4    50%" in result.out, result.out)
    row, = records(folder, "--kernel", F16)
    expect(row["mix"] is None and row["flight"] is None and row["code"] == 384 and row["blocks"] == 4, row)


@test
def what_changed():
    folder = stand_ins("changed")
    old = place("old.json")
    tool.expect_run(report(folder, "--kernel", "direct_fwd_n", "--json", old), 0)
    same = report(folder, "--kernel", "direct_fwd_n", "--compare", old)
    tool.expect_run(same, 0)
    expect(same.out == "nothing changed\n", same.out)
    write("changed/ptxas", PTXAS.replace("Used 64", "Used 72").replace("24 bytes spill stores", "0 bytes spill stores"))
    write("changed/sass", SASS.replace("STL [R1], R12", "MOV R30, R31"))
    (folder / "nvcc").write_text(FAKE_NVCC.replace("echo stand-in", "echo another"))
    result = report(folder, "--kernel", "direct_fwd_n", "--compare", old)
    tool.expect_run(result, 0)
    lines = [line.split() for line in result.out.splitlines()]
    for wanted in (["registers", "64", "72", "+8"], ["spill", "stores", "24", "0", "-24"], ["local", "1", "0", "-1"],
                   ["integer", "1", "2", "+1"], ["blocks", "an", "SM", "4", "3", "-1"]):
        expect(["sm_90", "direct_fwd_nchw_f16", *wanted] in lines, wanted, result.out)
    expect(not any("nhwc" in line[1] for line in lines), result.out)
    expect("gone" in tables.compare(json.loads(Path(old).read_text()), []), "gone")


@test
def shared_memory_that_depends_on_the_problem():
    use = {"registers": 32, "spill_stores": 0, "spill_loads": 0, "stack": 0, "static": 1024, "barriers": 0}
    program = load_program()
    kernel = built.Kernel("f", "k", [], 256, None)
    row = program.row_of(90, "gdnn_k", use, 128, None, kernel, None)
    expect(row["blocks"] == 8 and row["shared_counted"] is None and row["shared_dynamic_max"] == 232448 - 1024, row)
    expect("<=231424" in tables.table(90, [row]) and "--shared" in tables.notes([row]), tables.table(90, [row]))
    row = program.row_of(90, "gdnn_k", use, 128, None, kernel, 100 * 1024)
    expect(row["blocks"] == 2 and row["limits"] == ["shared"] and "--shared" not in tables.notes([row]), row)


def load_program():
    """The program as a module."""
    loader = importlib.machinery.SourceFileLoader("report_program", tool.TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("report_program", loader))
    loader.exec_module(module)
    return module


@test
def errors_say_what_to_do():
    folder = stand_ins("errors")
    def refused(code, *pieces, arguments=(), **env):
        result = report(folder, *arguments, **env)
        tool.expect_run(result, code, *pieces)
        expect("Traceback" not in result.err and result.out == "", result.out, result.err)
    refused(2, "no such architecture: '91'", "75, 80", arguments=["--arch", "90,91"])
    refused(2, "no such architecture: 'x'", arguments=["--arch", "x"])
    refused(2, "no kernel has 'nothing' in its name", F16, arguments=["--kernel", "nothing"])
    refused(2, "does not compile for sm_80", "error: broken", arguments=["--arch", "80"], FAKE_BROKEN="1")
    refused(2, "cannot read", "No such file", arguments=["--compare", place("none.json")])
    refused(2, "no report that --json wrote", arguments=["--compare", write("odd.json", "[1]")])
    refused(2, "no report that --json wrote", arguments=["--compare", write("odd2.json", "{")])
    refused(2, "cannot write", arguments=["--kernel", F16, "--json", place("none/x.json")])
    refused(2, "no number of bytes", arguments=["--shared", "1k"])
    refused(2, "unrecognized arguments", arguments=["--loud"])
    write("errors/nvdisasm", "#!/bin/sh\necho 'fatal: too new' >&2\nexit 1\n")
    refused(3, "too new", "older than nvcc", arguments=["--kernel", F16])
    tool.expect_run(report(stand_ins("nothing", nvcc=False)), 3, "no nvcc", "install CUDA")


@test
def help_has_the_exit_statuses():
    result = report(stand_ins("help"), "--help")
    tool.expect_run(result, 0)
    for piece in ("Exit status: 0", "2 the call", "3 the machine", "--arch", "--compare", "--install", "--kernel", "--json"):
        expect(piece in result.out, piece, result.out)


tool.main()
