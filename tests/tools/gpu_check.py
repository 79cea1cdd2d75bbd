"""tools/gpu-check on stand-ins for driver, cuDNN and PyTorch, and what its parts make of figures.

Arguments: the tool and the build folder."""

import importlib.machinery
import importlib.util
import io
import json
import os
import subprocess
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "cli"), str(ROOT / "tools")]

import tool
from gpucheck import dropin, parity, problems, programs, report, times
from tool import Result, expect, expect_run, place, test, write

BUILD = os.path.abspath(sys.argv[2])
LAYERS = """# three layers
name=depthwise n=2 c=16 in=9x9 k=16 filter=3x3 pad=1 groups=16
name=grouped n=2 c=16 in=9x9 k=16 filter=3x3 pad=1 stride=2 groups=4
name=scaled n=16 c=32 in=28x28 k=32 filter=3x3 pad=1 groups=32 dtype=f16 layout=nhwc dir=fwd
"""
DIRECT = "direct_fwd,direct_bwd_data,direct_bwd_filter"
SMALL = """name=a n=2 c=8 in=7x6 k=8 filter=3x3 pad=1 groups=8
name=b n=2 c=8 in=7x6 k=8 filter=3x3 pad=1 groups=8 alpha=-0.5 beta=2
"""


def gpu_check(*arguments, device="double", **env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GROUPDNN_") and k != "LD_LIBRARY_PATH"}
    command = [sys.executable, str(ROOT / "tools" / "gpu-check"), "--device", device, "--build", BUILD, *arguments]
    return Result(subprocess.run(command, env={**clean, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=290))


def on_doubles(name, *arguments, layers=LAYERS, small=SMALL, **env):
    return gpu_check("--out", place(name), "--shapes", write(name + "_layers", layers), "--parity",
                     write(name + "_small", small), "--kernels", DIRECT, "--budget", "300", *arguments, **env)


def rows(folder, name):
    with open(os.path.join(place(folder), name + ".jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def kernels_of(names=None):
    return [kernel for kernel in tool.run("kernels", "--json", "-").records()[0] if not names or kernel["name"] in names]


@test
def everything_runs_on_the_doubles():
    result = on_doubles("all")
    expect_run(result, 0, "skipped: PyTorch's own kernels")
    wanted = {parity.symbol(name, layout, dtype, plain) for name, _, layout, dtype in parity.instances(kernels_of(DIRECT.split(",")))
              for plain in (True, False)}
    checked = rows("all", "parity")
    expect({row["instance"] for row in checked} == wanted | {None}, "every instance, and layers")
    expect(all(row["pass"] for row in checked), checked)
    expect(len([row for row in checked if row["instance"] is None]) == 7, "two layers in three directions, and one")
    timed = rows("all", "times")
    expect(len(timed) == 31 and all(row["ms"] > 0 and row["cudnn_legacy_ms"] > 0 for row in timed), timed)
    scaled = next(row for row in timed if "name=scaled" in row["layer"])
    expect("n=16 " in scaled["layer"] and "n=16 " not in scaled["problem"], scaled)
    expect(len(rows("all", "probe")) > 30 and rows("all", "dropin")[0]["compared"] == 1, rows("all", "dropin"))
    facts = json.loads(Path(place("all"), "machine.json").read_text())
    expect(facts["device"] == "double" and facts["seconds"] > 0 and facts["info"], facts)
    expect("cuDNN on the same data: 31 rows" in result.out, result.out)
    expect("0 wrong" in result.out and "Times mean nothing" in result.out and "GDNN_WIN" not in result.out, result.out)
    text = Path(place("all"), "report.md").read_text()
    expect(text.count("| depthwise | fwd |") == 5 and "0 wrong" in text, text)


@test
def what_there_is_no_time_for_is_said():
    result = on_doubles("short", "--budget", "0.5")
    expect_run(result, 1)
    expect("not run, for want of time" in result.out and "is right: it was not run" in result.out, result.out)
    expect("Traceback" not in result.err, result.err)


@test
def a_failed_step_leaves_the_others():
    # The second launch of each process.
    result = on_doubles("fault", GDNN_FAKE_FAIL="cuLaunchKernelEx:2")
    expect_run(result, 1)
    expect(rows("fault", "times") and rows("fault", "parity") and rows("fault", "dropin"), result.err)
    expect("wrong:" in result.out or "failed:" in result.out, result.out)


@test
def a_kernel_that_nothing_shows_to_be_right_is_a_failure():
    only_forward = "name=f n=2 c=8 in=7x6 k=8 filter=3x3 pad=1 groups=8 dir=fwd\n"
    result = on_doubles("missing", small=only_forward)
    expect_run(result, 1, "nothing shows that direct_bwd_data_nchw_f16 is right", "direct_fwd_nchw_f16 is right")
    expect("direct_fwd_nchw_f16_plain is right" not in result.err, result.err)


@test
def every_instance_has_its_problems():
    found = set()
    for name, direction, layout, dtype in parity.instances(kernels_of()):
        result = tool.run("explain", "--dir", direction, "--layout", layout, "--dtype", dtype, "--json", "-",
                          ROOT / "tests" / "golden" / "gpu" / "parity.txt",
                          env={"GROUPDNN_MODE": "force", "GROUPDNN_KERNEL": name})
        expect_run(result, 0)
        kinds = {parity.is_plain(line["problem"]) for line in result.records()[0]
                 if line["route"] == "groupdnn" and line["kernel"] == name}
        expect(kinds == {True, False}, "tests/golden/gpu/parity.txt has no problem, plain and full, for", name, layout, dtype)
        found.add(name)
    expect(len(found) >= 3, found)


@test
def the_call_and_the_machine_may_be_wrong():
    expect_run(gpu_check("--shapes", "/no/such/file"), 2, "/no/such/file")
    expect_run(gpu_check("--budget", "0"), 2, "--budget")
    expect_run(gpu_check("--fast"), 2, "--fast")
    expect_run(gpu_check("--out", place("nogpu"), device="gpu", PATH="/no/such/folder"), 3, "no GPU", "--device double")
    expect_run(gpu_check("--out", place("nobuild"), "--build", place("nowhere")), 3, "groupdnn")


@test
def the_lists_are_problems():
    golden = ROOT / "tests" / "golden" / "gpu"
    layers, small = (problems.read([golden / name]) for name in ("layers.txt", "parity.txt"))
    expect(40 <= len(layers) <= 64 and len(set(layers)) == len(layers), len(layers))
    for path in ("layers.txt", "parity.txt"):
        expect_run(tool.run("explain", "--dtype", "f16", golden / path), 0)
    known = {problems.without(line, "name", "count", "dtype", "layout", "dir", "n") for line in
             problems.read(sorted((ROOT / "tests" / "shapes").glob("*.txt")))}
    strange = [line for line in layers if problems.without(line, "name", "n") not in known]
    expect(strange == [line for line in layers if "name=multiplier" in line], strange)
    expect(sum(map(problems.is_depthwise, layers)) > len(layers) / 2 > sum("in=1x" in line for line in small), layers)


def row(kernel="k", ratio=2.0, c=32, n=4, **more):
    text = "name=x dir=fwd dtype=f16 layout=nhwc n=%d c=%d in=8x8 k=%d filter=3x3 pad=1 groups=%d" % (n, c, c, c)
    return {"problem": "scaled", "layer": text, "dir": "fwd", "timed_kernel": kernel, "ms": 0.1, "ratio": ratio, "torch_ratio": None,
            "percent_of_floor": 50.0, "cudnn_legacy_ms": 0.3, "cudnn_graph_ms": None, "cudnn_ms": 0.3, "torch_ms": None,
            "floor_us": 50.0, "pass": True, "kernel": kernel, "real_time": True, **more}


@test
def wins_are_what_every_row_shows():
    line, = report.wins([row(ratio=2), row(ratio=1.5, c=64)], set(), "90", "here")
    expect(line == 'GDNN_WIN(k, p->dtype == GDNN_F16 && p->spatial == 2 && p->x_stride[1] == 1 && p->filter[0] == 3 && '
           'p->filter[1] == 3 && p->stride[0] == 1 && p->stride[1] == 1 && X_ELEMENTS(p) >= 8192, 90, 90, MEASURED, '
           '"here: 2 rows, cuDNN takes 1.50 to 2.00 times as long")', line)
    # From the size on above which nothing is lost; a draw is no win.
    line, = report.wins([row(ratio=2), row(ratio=1.02, c=64), row(ratio=3, c=64, n=8)], set(), "90", "here")
    expect("X_ELEMENTS(p) >= 32768, " in line and "1 rows" in line, line)
    expect(report.wins([row(ratio=2), row(ratio=0.9, c=64)], set(), "90", "here") == [], "the largest is lost")
    expect(report.wins([row(ratio=0.9, n=8), row(ratio=2, c=64)], set(), "90", "here") == [], "as large as one that is lost")
    expect(report.wins([row()], {"k"}, "90", "here") == [], "a kernel that is wrong wins nothing")
    expect(report.wins([row(ratio=None)], set(), "90", "here") == [], "nothing to compare with")


@test
def means_and_losses():
    some = [row(ratio=4.0), row(ratio=0.25, kernel="l"), row(ratio=None)]
    near, far = ({"vs_cudnn_l2": x, "tol": 1.0, "err_l2": 0.1, "cudnn_err_l2": 0.2, "problem": "p=%g" % x} for x in (0.5, 4))
    expect(len(report.beside_cudnn([near])) == 1 and "0.5 bounds" in report.beside_cudnn([near])[0], "near")
    expect("4 apart" in report.beside_cudnn([near, far, {"vs_cudnn_l2": None}])[1], "far")
    lines = {line[0]: line[1:] for line in report.means(some)[1:]}
    expect(lines["all"] == ["3", "1", "1.00", "-", "50.00"], lines)
    expect(lines["k"] == ["2", "0", "4.00", "-", "50.00"] and lines["l"][2] == "0.25", lines)
    expect([r["ratio"] for r in report.losses(some + [row(ratio=0.5)])] == [0.25, 0.5], some)
    merged = report.merged([row(), row(ms=None)], [{"problem": row()["layer"], "torch_ms": 0.5}])
    expect(len(merged) == 1 and merged[0]["torch_ratio"] == 5.0, merged)


@test
def the_first_layers_come_first():
    layers = ["name=%d n=1 c=2 in=3x3 k=2 filter=3x3 groups=2" % i for i in range(30)]
    order = [problems.fields(text) for text in times.order(layers)]
    expect(len(order) == 30 * 15, len(order))
    place_of = {(f["name"], f["dtype"], f["layout"]): i for i, f in enumerate(order)}
    expect(place_of["5", "f32", "nchw"] < place_of["16", "f16", "nhwc"] < place_of["7", "f32", "nchw"], order[:60])
    expect([f["dir"] for f in order[:3]] == ["fwd", "bwd_data", "bwd_filter"], order[:3])
    fixed = times.order(["n=1 c=2 in=3x3 k=2 filter=3x3 groups=2 dtype=f16 layout=nchw dir=fwd"])
    expect(len(fixed) == 1, "what a line says is kept", fixed)


class Notes:
    """Of a run of gpu-check, what its steps use."""

    def __init__(self, command):
        self.command, self.env, self.log = command, dict(os.environ), place("notes.log")
        self.python, self.facts, self.kept = sys.executable, {}, []
        self.failures, self.left, self.skipped = [], [], []
        self.progress = types.SimpleNamespace(show=lambda text: None, say=lambda text: None)

    def tool(self, *_):
        return self.command

    def rows(self, _, record):
        self.kept.append(record)

    def fail(self, text):
        self.failures.append(text)

    def skip(self, what, why):
        self.skipped.append((what, why))

    def not_run(self, text):
        self.left.append(text)


BENCH = """
import json, sys, time
for line in sys.stdin:
    if "bad" in line: sys.exit(9)
    if "slow" in line: time.sleep(60)
    ms = None if "sticky" in line else 1
    print(json.dumps({"problem": line.strip(), "pass": ms == 1, "ms": ms, "cudnn_ms": 1,
                      "reason": "taken" if ms else "driver-error"}), flush=True)
    if ms is None:
        for line in sys.stdin:
            print(json.dumps({"problem": line.strip(), "pass": False, "ms": None, "reason": "driver-error"}), flush=True)
print(json.dumps({"run": 1}))
"""


COMPARE = """
import json
for dtype, right in (("f16", True), ("f32", False)):
    print(json.dumps({"problem": "beta=1 dtype=" + dtype, "route": "groupdnn", "pass": True}))
    print(json.dumps({"problem": "dtype=" + dtype, "route": "groupdnn", "pass": right}))
print(json.dumps({"problem": "dtype=f64", "route": "cudnn", "pass": None}))
"""
FAULT = """
import json
for dtype in ("f16", "f32"):
    print(json.dumps({"problem": "dtype=" + dtype, "route": "groupdnn", "pass": False, "reason": "driver-error"}))
"""


@test
def an_instance_must_be_right_once():
    notes = Notes([sys.executable, write("compare.py", COMPARE)])
    kernel = {"name": "k", "dir": "fwd", "layout": "nhwc", "dtypes": "f16,f32,f64"}
    parity.small(notes, programs.now() + 30, "problems", [kernel])
    expect(sorted(notes.failures) == ["nothing shows that k_nhwc_%s is right" % instance for instance in
                                      ("f32_plain", "f64", "f64_plain")], notes.failures)
    expect([r["instance"] for r in notes.kept] == ["k_nhwc_f16", "k_nhwc_f16_plain", "k_nhwc_f32", "k_nhwc_f32_plain"],
           notes.kept)
    expect(not notes.left, notes.left)
    ends = Notes([sys.executable, write("compare.py", "import sys; sys.exit(9)")])
    parity.small(ends, programs.now() + 30, "problems", [kernel])
    expect("status 9 at k_nhwc" in ends.failures[0] and len(ends.failures) == 7, ends.failures)
    faulty = Notes([sys.executable, write("fault.py", FAULT)])
    parity.small(faulty, programs.now() + 30, "problems", [kernel])
    expect("the driver failed in k_nhwc: dtype=f16" in faulty.failures[0] and len(faulty.kept) == 1, faulty.failures)


def script():
    loader = importlib.machinery.SourceFileLoader("gpu_check_script", str(ROOT / "tools" / "gpu-check"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check_script", loader))
    loader.exec_module(module)
    return module


def concluded(checked, timed, failures=()):
    """The exit status for these rows of parity and times, and what is printed."""
    facts = {"gpu": {"compute_cap": "9.0", "name": "G"}}
    check = types.SimpleNamespace(results={"parity": checked, "times": timed, "torch": []}, failures=list(failures), left=[],
                                  skipped=[], facts=facts, out=Path(tool.FOLDER.name), device="gpu",
                                  budget=programs.Budget(1, {}))
    printed, sys.stdout = sys.stdout, io.StringIO()
    try:
        status = script().conclude(check, "here")
        return status, sys.stdout.getvalue()
    finally:
        sys.stdout = printed


@test
def what_is_wrong_decides_the_status():
    right = {"kernel": "k", "pass": True, "problem": "p", "reason": "taken", "err_l2": 0.1, "tol": 1}
    wrong = {**right, "pass": False, "err_l2": 3}
    status, text = concluded([right], [row()])
    expect(status == 0 and "GDNN_WIN(k, " in text and "tests/golden/gpu/here" in text and "1 rows right, 0 wrong" in text, text)
    status, text = concluded([right], [row(ratio=0.5)])
    expect(status == 0 and "slower than cuDNN (1 rows)" in text and "GDNN_WIN" not in text, "slow is not wrong", text)
    status, text = concluded([right, wrong], [row()])
    expect(status == 1 and "error 3, bound 1" in text and "GDNN_WIN" not in text, text)
    expect(concluded([right], [row(**{"pass": False, "reason": "taken"})])[0] == 1, "wrong where it was timed")
    expect(concluded([right], [], ["a step"])[0] == 1 and concluded([], [row()])[0] == 1, "a failure; nothing checked")
    status, text = concluded([right], [row(real_time=False)])
    expect(status == 0 and "GDNN_WIN" not in text and "Times mean nothing" in text, text)


@test
def large_layers_lose_images_only():
    expect(parity.cut("name=a n=128 c=32 in=112x112 k=32") == "name=a n=41 c=32 in=112x112 k=32", "at most 2^24 elements")
    expect(parity.cut("n=2 c=32 in=11 k=32") == "n=2 c=32 in=11 k=32", "as it is")
    expect(parity.cut("n=2 c=4096 in=128x128x2 k=4096").startswith("n=1 "), "at least one")


@test
def a_bench_that_ends_is_taken_up_again():
    notes = Notes([sys.executable, write("bench.py", BENCH)])
    times.bench(notes, programs.now() + 30, ["a=1", "bad=1", "b=1", "sticky=1", "c=1", "bad=2"])
    expect([r["problem"] for r in notes.kept] == ["a=1", "b=1", "sticky=1", "c=1"], notes.kept)
    expect([r["pass"] for r in notes.kept] == [True, True, False, True], notes.kept)
    expect(len(notes.failures) == 2 and "status 9 at bad=1" in notes.failures[0] and not notes.left, notes.failures)


@test
def a_bench_is_stopped_at_its_deadline():
    notes = Notes([sys.executable, write("bench.py", BENCH)])
    begin = programs.now()
    times.bench(notes, begin + 2, ["a=1", "slow=1", "b=1"])
    expect(programs.now() - begin < 10 and len(notes.kept) == 1, notes.kept)
    expect(notes.left == ["time of slow=1", "time of b=1"] and not notes.failures, notes.left)


@test
def a_budget_is_shared_and_handed_on():
    budget = programs.Budget(100, {"a": 1, "b": 3})
    expect(24 < budget.deadline("a") - programs.now() <= 25, "a quarter")
    expect(99 < budget.deadline("b") - programs.now() <= 100, "what is left")
    spent = programs.Budget(-1, {"a": 1})
    expect(spent.deadline("a") <= programs.now() + 0.01, "none")


@test
def tables_of_the_drop_in_are_read():
    table = """groupdnn[7]: version 0.1.0 in process 7 (python), mode verify, cuDNN 9.19.0 /x/libcudnn.so.9 (GROUPDNN_CUDNN)
groupdnn[7]:      calls  by        kernel or reason        compared  differed   skipped     worst  problem
groupdnn[7]:          3  both      direct_fwd                     3         1         0       2.5  dir=fwd dtype=f16 n=8
groupdnn[7]:          2  cudnn     no-kernel                                                       dir=fwd dtype=f64 n=1
groupdnn[7]:          3  calls: 0 by groupdnn, 0 by cudnn, 3 by both
"""
    first, second = dropin.table(table)
    expect(first == {"calls": 3, "by": "both", "what": "direct_fwd", "compared": 3, "differed": 1, "worst": "2.5",
                     "problem": "dir=fwd dtype=f16 n=8"}, first)
    expect(second["compared"] == 0 and second["by"] == "cudnn", second)


LINES = """name=a dir=fwd dtype=f16 layout=nhwc n=2 c=4 in=8x6 k=4 filter=3x3 pad=1 groups=4
dir=bwd_filter dtype=f32 layout=nchw n=2 c=4 in=8 k=8 filter=4 pad=3 stride=2 groups=4
dir=fwd dtype=f32 layout=nchw n=2 c=13 in=8x8 k=13 filter=3x3 groups=13
dir=fwd dtype=f32 layout=nchw n=2 c=4 in=8x8 k=4 filter=3x3 pad_after=1 groups=4
"""


def torch_layers(mode, **env):
    calls = place("calls_" + mode)
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "gpucheck" / "torch_layers.py"), mode], input=LINES.encode(),
                          env={**os.environ, "PYTHONPATH": str(HERE), "FAKE_TORCH_CALLS": calls, **env},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    lines = Path(calls).read_text().split("\n") if os.path.exists(calls) else []
    return [json.loads(line) for line in done.stdout.decode().splitlines()], [line.split() for line in lines if line]


@test
def pytorch_s_own_kernels_are_timed_without_cudnn():
    (facts, *records), calls = torch_layers("time")
    expect(facts["cudnn"] == 90000, facts)
    expect([r["torch_ms"] for r in records] == [0.5, 0.5, None, None], records)
    expect(records[2]["error"] == "unlucky" and "no such convolution" in records[3]["error"], records)
    expect(all(call[1] == "False" for call in calls if call[0] != "sleep"), "cuDNN is off", calls[:3])
    forward = [call for call in calls if call[0] == "fwd"]
    expect(len(forward) == 80 and forward[0][2].endswith(":2x4x8x6:f16:nhwc") and forward[0][3].endswith(":4x1x3x3:f16:nhwc"),
           forward[0])
    expect(forward[0][4:] == ["[1,1]", "[1,1]", "[1,1]", "4"], forward[0])
    expect(len({call[2] for call in forward}) > 50, "each call has other tensors, beyond L2")
    backward = next(call for call in calls if call[0] == "bwd")
    expect(backward[2].endswith(":2x8x6:f32:nchw") and backward[5:] == ["[2]", "[3]", "[1]", "4", "[False,True,False]"], backward)


@test
def once_is_as_pytorch_runs_it():
    records, calls = torch_layers("once")
    expect(len(records) == 4 and "error" not in records[0] and records[2]["error"] == "unlucky", records)
    expect([call[:2] for call in calls] == [["fwd", "True"], ["bwd", "True"]], calls)


tool.main()
