"""`groupdnn check`, and what `groupdnn info` says about the drop-in and the real cuDNN.

Arguments: the tool, and the folder with small/, newer/, crashing/ and eight/libcudnn.so.9, and the programs linked_*."""

import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios

import tool
from tool import expect, expect_run, place, run, test, write

CUDNN = os.path.abspath(sys.argv[2])
SMALL, NEWER, CRASHING, EIGHT = (os.path.join(CUDNN, name, "libcudnn.so.9")
                                 for name in ("small", "newer", "crashing", "eight"))
DROP_IN = os.path.realpath(os.path.join(os.path.dirname(tool.TOOL), "../shim/libcudnn.so.9"))
FIRST = ["drop-in", "preload", "real cuDNN", "version", "functions", "forwarding", "overhead", "gpu"]


def no_gpu(**env):
    settings = {"GROUPDNN_CUDNN": SMALL, "LD_PRELOAD": "", "CUDA_VISIBLE_DEVICES": "", "PTXM_NO_DEVICE": "1"}
    settings.update(env)
    return settings


def check(code, *arguments, **env):
    """The outcomes by name, and the details."""
    result = run("check", "--json", "-", *arguments, env=no_gpu(**env))
    expect_run(result, code)
    rows, summary = result.records()
    for row in rows:
        expect(list(row) == ["check", "status", "detail"], row)
        expect(row["detail"], row)
    status = {row["check"]: row["status"] for row in rows}
    expect(len(status) == len(rows), "a name twice", rows)
    words = list(status.values())
    expect(summary == {word: words.count(word) for word in ("ok", "failed", "skipped")}, summary, rows)
    return status, {row["check"]: row["detail"] for row in rows}


@test
def all_is_well():
    status, detail = check(0)
    rows = run("kernels", "--json", "-").records()[0]
    kernels = [row["name"] for row in rows]
    expect(list(status) == FIRST + ["emulated"] + [name + " on emulated" for name in kernels], list(status))
    for name, word in status.items():
        expect(word == ("skipped" if name == "gpu" else "ok"), name, word, detail[name])
    expect(DROP_IN in detail["drop-in"], detail)
    expect(detail["real cuDNN"] == SMALL + " (GROUPDNN_CUDNN)", detail)
    expect(detail["version"] == "9.12.34", detail)
    expect(" ns " in detail["overhead"] and "times as long" in detail["overhead"], detail)
    for row in rows: # one for each type and layout
        layouts = 2 if row["layout"] == "any" else len(row["layout"].split(","))
        count = layouts * len(row["dtypes"].split(","))
        expect("%d problems" % count in detail[row["name"] + " on emulated"], row, detail)


@test
def people_get_lines():
    result = run("check", env=no_gpu())
    expect_run(result, 0)
    lines = result.out.splitlines()
    expect(any(line.startswith("ok       drop-in ") for line in lines), result.out)
    expect(any(line.startswith("skipped  gpu ") for line in lines), result.out)
    expect(lines[-1].endswith(" 0 failed, 1 skipped."), result.out)
    expect(not result.err, result.err)
    for line in lines:
        expect(len(line) <= 120 or DROP_IN in line or SMALL in line, line)


@test
def no_drop_in():
    status, detail = check(3, GDNN_SHIM=place("none.so"))
    expect(status["drop-in"] == "failed" and "none.so: build or install it" in detail["drop-in"], detail)
    for name in ("preload", "forwarding", "overhead"):
        expect(status[name] == "skipped", name, status)
    expect(status["functions"] == "skipped" and status["emulated"] == "ok", status)


@test
def a_drop_in_that_is_none():
    status, detail = check(1, GDNN_SHIM=SMALL)
    expect(status["drop-in"] == "failed" and "it lacks cudnn" in detail["drop-in"], detail)
    status, detail = check(1, GDNN_SHIM=write("text.so", "no library"))
    expect(status["drop-in"] == "failed" and "text.so" in detail["drop-in"], detail)
    expect(status["preload"] == "failed" and "ld.so" in detail["preload"], detail)
    expect(status["forwarding"] == "skipped", status)


@test
def no_real_cudnn():
    status, detail = check(3, GROUPDNN_CUDNN=place("none.so"))
    expect(status["drop-in"] == "ok" and status["preload"] == "ok", detail)
    expect(status["real cuDNN"] == "failed", status)
    expect("correct GROUPDNN_CUDNN" in detail["real cuDNN"], detail)
    expect("%s (GROUPDNN_CUDNN) does not exist" % place("none.so") in detail["real cuDNN"], detail)
    for name in ("forwarding", "overhead"):
        expect(status[name] == "skipped" and detail[name] == "no real cuDNN", name, detail)
    expect("version" not in status, status)


@test
def functions_that_the_drop_in_lacks():
    status, detail = check(1, GROUPDNN_CUDNN=NEWER)
    expect(status["functions"] == "failed" and "lacks 2" in detail["functions"], detail)
    expect("cudnnOfTomorrow" in detail["functions"] and "cudnnOfTheDayAfter" in detail["functions"], detail)
    expect(status["forwarding"] == "ok", detail)


@test
def a_library_that_crashes():
    status, detail = check(1, GROUPDNN_CUDNN=CRASHING)
    expect(status["version"] == "failed" and "it crashed" in detail["version"], detail)
    expect(status["forwarding"] == "failed" and status["overhead"] == "skipped", detail)
    expect(status["emulated"] == "ok", status)


@test
def no_device_at_all():
    status, detail = check(0, GDNN_EMULATED_DRIVER=place("none.so"))
    expect(status["gpu"] == "skipped" and status["emulated"] == "skipped", status)
    expect("-Dtests=true" in detail["emulated"], detail)
    expect(list(status) == FIRST + ["emulated"], status)


@test
def kernels_that_fail():
    for fault, pieces in [("cuLaunchKernelEx:3", ["1 of 3 problems", "cuLaunchKernelEx", "dtype=f32"]),
                          ("cuLaunchKernelEx:3:0", ["1 of 3 problems", "groupdnn compare 'dir=fwd dtype=f32 "])]:
        status, detail = check(1, GDNN_FAKE_FAIL=fault)
        expect([name for name in status if status[name] == "failed"] == ["dw_ring_3x3_s1_fwd on emulated"], status)
        for piece in pieces:
            expect(piece in detail["dw_ring_3x3_s1_fwd on emulated"], piece, detail)
    status, detail = check(1, GDNN_FAKE_FAIL="cuLibraryLoadData:2:209")
    expect(status["emulated"] == "failed" and "-Dgpu_archs" in detail["emulated"], detail)
    expect(not [name for name in status if " on " in name], "nothing is tried that is not loaded", status)


@test
def every_gpu_is_tried():
    driver = os.path.join(os.path.dirname(tool.TOOL), "../tests/doubles/plain")
    status, _ = check(0, GDNN_FAKE_DEVICES="2", LD_LIBRARY_PATH=driver)
    gpus = [name for name in status if name.startswith("gpu")]
    expect(gpus == ["gpu 0", "gpu 1"] and "emulated" not in status, status)
    for gpu in gpus:
        expect(status[gpu] == "ok" and status["direct_bwd_filter on " + gpu] == "ok", status)


@test
def options_do_not_change_the_outcome():
    status, _ = check(0, GROUPDNN_MODE="off", GROUPDNN_DISABLE="all", GROUPDNN_KERNEL="direct_fwd")
    expect("failed" not in status.values(), status)


@test
def a_program_has_packages():
    folder = place("venv/lib/python3.12/site-packages/nvidia/cudnn/lib")
    os.makedirs(folder)
    shutil.copy(SMALL, folder)
    os.mkdir(place("venv/bin"))
    os.symlink("/bin/sh", place("venv/bin/python3"))
    for command in ("check", "info"):
        result = run(command, "--program", place("venv/bin/python3"), env=no_gpu(GROUPDNN_CUDNN=""))
        expect_run(result, 0)
        expect(folder + "/libcudnn.so.9" in result.out, result.out)
        expect_run(run(command, "--program", "no-such-program"), 2,
                   "--program no-such-program: there is no such command in PATH")
        expect_run(run(command, "--program", "./no-such-program"), 2, "./no-such-program: there is no such command\n")


def info(*arguments, **env):
    result = run("info", "--json", "-", *arguments, env=no_gpu(**env))
    expect_run(result, 0)
    rows, summary = result.records()
    return [row for row in rows if row["item"] != "option"], summary, result


@test
def info_has_both_libraries():
    rows, summary, _ = info()
    items = {(row["item"], row["name"]): row for row in rows}
    expect(items["drop-in", "drop-in"]["value"] == DROP_IN, rows)
    expect(items["preload", "LD_PRELOAD"]["origin"] == "not set", rows)
    expect(items["cudnn", "real cuDNN"]["value"] == SMALL, rows)
    expect(items["cudnn", "version"]["value"] == "9.12.34", rows)
    expect(items["place", "GROUPDNN_CUDNN"]["origin"] == "used", rows)
    expect(summary["drop_in"] == DROP_IN and summary["cudnn"] == SMALL, summary)
    expect(summary["cudnn_version"] == "9.12.34" and summary["missing"] == 0, summary)


@test
def info_tells_of_trouble():
    rows, summary, _ = info(GROUPDNN_CUDNN=NEWER)
    names = [row["value"] for row in rows if row["item"] == "missing"]
    expect(sorted(names) == ["cudnnOfTheDayAfter", "cudnnOfTomorrow"] and summary["missing"] == 2, rows)
    rows, summary, _ = info(GROUPDNN_CUDNN=CRASHING)
    expect(summary["cudnn"] == CRASHING and summary["cudnn_version"] is None, summary)
    expect(any("it crashed" in row["origin"] for row in rows), rows)
    text = write("none.so", "no library")
    rows, summary, result = info(GROUPDNN_CUDNN=text, GDNN_SHIM=place("nowhere.so"))
    expect(summary["cudnn"] is None and summary["missing"] is None and summary["drop_in"] is None, summary)
    tried = [row for row in rows if row["item"] == "place"]
    expect(len(tried) == 1 and tried[0]["value"] == text and tried[0]["origin"] != "used", tried)
    shown = " ".join(result.err.split())
    expect("%s (GROUPDNN_CUDNN) %s" % (text, tried[0]["origin"]) in shown, "shown where nothing is found", shown)


def loaders_choice(program, path):
    """The libcudnn.so.9 that the loader maps for the program."""
    env = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_LIBRARY_PATH": path}
    lines = subprocess.run([program], stdout=subprocess.PIPE, env=env, check=True).stdout.decode().splitlines()
    return [line.split()[2] for line in lines if line.split()[0] == "libcudnn.so.9"][0]


@test
def the_order_is_the_loaders():
    folder = os.path.dirname(SMALL)
    for name, path, found, origin in [
            ("rpath", "", NEWER, "RPATH"), ("rpath", folder, NEWER, "RPATH"),
            ("runpath", "", NEWER, "RUNPATH"), ("runpath", folder, SMALL, "LD_LIBRARY_PATH"),
            ("held", "", NEWER, "RUNPATH"), ("held", folder, SMALL, "LD_LIBRARY_PATH"),
            ("chained", "", NEWER, "RPATH"), ("chained", folder, NEWER, "RPATH")]:
        program = os.path.join(CUDNN, "linked_" + name)
        expect(os.path.samefile(loaders_choice(program, path), found), "another order", name, path)
        rows, summary, _ = info("--program", program, GROUPDNN_CUDNN="", LD_LIBRARY_PATH=path)
        real = [row for row in rows if row["name"] == "real cuDNN"][0]
        expect(os.path.samefile(summary["cudnn"], found) and real["origin"] == origin, name, path, real)
        status, detail = check(1 if found == NEWER else 0, "--program", program, GROUPDNN_CUDNN="", LD_LIBRARY_PATH=path)
        expect(origin in detail["real cuDNN"], detail)
        expect(status["functions"] == ("failed" if found == NEWER else "ok"), detail)


@test
def programs_that_cannot_be_read():
    """What the file does not tell is not known, and no reason to stop."""
    with open(os.path.join(CUDNN, "linked_rpath"), "rb") as file:
        whole = file.read()
    for number, text in enumerate([b"", b"#!", b"#!\n", b"#! \t\n", b"#!/usr/bin/env\n", b"\x7fELF", whole[:64], whole[:1000],
                                   b"#!" + place("odd_8").encode() + b"\n", b"#!" + b"/x" * 5000, b"#!/usr/bin/env -S\n"]):
        path = write("odd_%d" % number, text)
        os.chmod(path, 0o755)
        result = run("info", "--program", path, env=no_gpu(GROUPDNN_CUDNN="", LD_LIBRARY_PATH=os.path.dirname(SMALL)))
        expect_run(result, 0)
        expect(SMALL in result.out or "site-packages" in result.out, number, result.out)


@test
def what_the_drop_in_rejects_is_passed_over():
    wrong = "says that its version is 8900; 9.x, which is 9xxxx, is needed"
    _, detail = check(3, GROUPDNN_CUDNN=EIGHT)
    expect("%s (GROUPDNN_CUDNN) %s" % (EIGHT, wrong) in detail["real cuDNN"], detail)
    path = "%s:%s" % (os.path.dirname(EIGHT), os.path.dirname(SMALL))
    program = os.path.join(CUDNN, "linked_runpath")
    rows, summary, _ = info("--program", program, GROUPDNN_CUDNN="", LD_LIBRARY_PATH=path)
    expect(summary["cudnn"] == SMALL and summary["cudnn_version"] == "9.12.34", summary)
    tried = [(row["value"], row["origin"]) for row in rows if row["item"] == "place"]
    expect(tried == [(EIGHT, wrong), (SMALL, "used")], tried)


@test
def info_tells_what_is_preloaded():
    rows, _, _ = info(LD_PRELOAD=DROP_IN)
    expect([row["origin"] for row in rows if row["item"] == "preload"] == ["has the drop-in"], rows)
    rows, _, _ = info(LD_PRELOAD=SMALL)
    expect([row["origin"] for row in rows if row["item"] == "preload"] == ["does not have the drop-in"], rows)


@test
def info_has_the_places_when_asked():
    plain, verbose = (run("info", *words, env=no_gpu()).out for words in ([], ["--verbose"]))
    line = "  used               %s (GROUPDNN_CUDNN)\n" % SMALL
    expect(line in verbose and line not in plain, verbose)


@test
def info_reports_bad_values_once():
    result = run("info", env=no_gpu(GROUPDNN_MODE="fast", GROUPDNN_KERNEL="fwd", GROUPDNN_MOD="x"))
    expect_run(result, 0)
    expect(not result.err, result.err)
    text = " ".join(result.out.split())
    expect("GROUPDNN_MODE on (the environment has fast: not one of the accepted values; accepted: off|" in text, text)
    expect("GROUPDNN_KERNEL none (the environment has fwd: there is no \"fwd\"; the names are those that `groupdnn kernels` lists" in text, text)
    expect("GROUPDNN_MOD x (environment; ignored, there is no such option, did you mean GROUPDNN_MODE)" in text, text)
    for line in result.out.splitlines():
        expect(len(line) <= 120 or DROP_IN in line or SMALL in line, line)


@test
def lines_fit_the_terminal():
    for columns in (50, 200):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        subprocess.run([tool.TOOL, "info"], stdout=theirs, env=no_gpu(GROUPDNN_MODE="fast"), check=True)
        os.close(theirs)
        lines = os.read(ours, 65536).decode().splitlines()
        os.close(ours)
        mode = [line for line in lines if "fast" in line or "off|observe" in line]
        expect(all(len(line) <= columns for line in mode), mode)
        expect(len(mode) == 1 if columns == 200 else len(mode) > 1, mode)


@test
def paths_are_plain():
    """The tool's folder and ../shim are no way to say it."""
    tools = os.path.join(place("elsewhere"), "tools")
    os.makedirs(tools)
    shutil.copy(tool.TOOL, tools)
    done = subprocess.run([os.path.join(tools, "groupdnn"), "info"], stdout=subprocess.PIPE, env=no_gpu(), check=True)
    expect("  %s/shim/libcudnn.so.9 (there is no such file" % place("elsewhere") in done.stdout.decode(), done.stdout)


@test
def the_reason_for_no_gpu():
    _, detail = check(0)
    driver = os.path.join(os.path.dirname(tool.TOOL), "../tests/doubles/plain")
    _, stub = check(0, GDNN_FAKE_FAIL="cuInit:1:34", LD_LIBRARY_PATH=driver, GDNN_EMULATED_DRIVER=place("none.so"))
    expect("stub, not a driver" in stub["gpu"] and "34" in stub["gpu"], stub)
    if detail["gpu"].startswith("no CUDA driver"): # where the machine has one, it says something else
        expect("libcuda.so.1" in detail["gpu"], detail)


tool.main()
