"""bench: counters beside budgets on the emulated device; times beside cuDNN's on a GPU, for which the doubles of driver
and cuDNN stand here."""

import math
import os
import sys

import oracle
import tool
from tool import COMPARE, COMPARE_SUMMARY, SMALL, expect, expect_fields, expect_run, place, run, test, write

PLAIN_DRIVER, CUDNN, CUDNN_GRAPHS, DROPIN = (path and os.path.abspath(path) for path in sys.argv[2:6])

COUNTS = ["bytes_floor", "threads", "sectors_read", "sectors_written", "shared_bytes", "conflict_cycles", "barriers",
          "l2_ratio", "shared_per_output", "conflict_percent", "missed"]
TIMES = ["ms", "ms_min", "ms_max", "cudnn_ms", "cudnn_legacy_ms", "cudnn_graph_ms", "ratio", "gbps", "floor_us",
         "percent_of_floor", "samples", "timed_kernel", "real_time"]
TIMES_SUMMARY = ["timed", "beside_cudnn", "below_one", "ratio", "ratio_fwd", "ratio_bwd_data", "ratio_bwd_filter",
                 "cudnn", "real_time"]
WIDTH = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}


def counted(*arguments, env=None):
    return run("bench", "--device", "emulated", "--json", "-", *arguments, env=env)


def timed(*arguments, cudnn=CUDNN, **env):
    env = {"LD_LIBRARY_PATH": os.path.dirname(PLAIN_DRIVER), "GROUPDNN_CUDNN": cudnn, **env}
    return run("bench", "--device", "gpu", "--json", "-", *arguments, env=env)


def bytes_of(text):
    p = oracle.parse(text)
    return WIDTH[p["dtype"]] * sum(oracle.product(sizes) for sizes in oracle.shapes(p).values())


def is_near(a, b):
    return math.isclose(a, b, rel_tol=2e-6)


@test
def counts_have_their_fields():
    result = counted("--dtype", "f16,f32", SMALL)
    expect_run(result, 0)
    rows, summary = result.records()
    expect_fields(summary, COMPARE_SUMMARY + ["counted", "missed"])
    expect(summary["run"] == summary["passed"] == summary["counted"] == 6 and summary["missed"] == 0, summary)
    for row in rows:
        expect_fields(row, COMPARE + COUNTS)
        expect(row["pass"] is True and row["err_l2"] <= row["tol"] and row["launches"] == 1, row)
        expect(row["bytes_floor"] == bytes_of(row["problem"]), row)
        expect(row["missed"] is None, "so small a problem has no budget", row)
        sectors = row["sectors_read"] + row["sectors_written"]
        expect(is_near(row["l2_ratio"], 32 * sectors / row["bytes_floor"]), row)


# One block writes y, 240 floats, and reads x and w, 240 and 72: each sector of 8 floats once.
@test
def counts_are_what_a_launch_does():
    row = counted("--kernel", "direct_fwd", "--dtype", "f32", "--dir", "fwd", SMALL).records()[0][0]
    expect(row["threads"] == 256 and row["sectors_written"] == 30 and row["sectors_read"] == 39, row)
    expect(row["bytes_floor"] == 2208 and row["l2_ratio"] == 1, row)
    expect(row["shared_bytes"] == row["conflict_cycles"] == row["barriers"] == 0, row)
    expect(row["shared_per_output"] == row["conflict_percent"] == 0, row)
    row = counted("--kernel", "direct_bwd_filter", "--dtype", "f32", "--dir", "bwd_filter", SMALL).records()[0][0]
    expect(row["shared_bytes"] > 0 and row["barriers"] > 0, row)
    expect(is_near(row["shared_per_output"], row["shared_bytes"] / 240), "an output is an element of dy", row)


@test
def each_launch_is_counted_alone():
    rows, _ = counted("--dtype", "f32", "--dir", "fwd,bwd_filter", SMALL, SMALL).records()
    expect([row["dir"] for row in rows] == ["fwd", "bwd_filter"] * 2, rows)
    expect(rows[0] == rows[2] and rows[1] == rows[3] and rows[0] != rows[1], rows)


# 12.9 MB, of which the emulated device takes a part. Each block of the direct kernel reads x and w anew.
DEPTHWISE = "n=2000 c=64 in=7x7 k=64 filter=7x7 groups=64 dtype=f16 layout=nhwc dir=fwd"

# What is scaled where it is compared, and timed whole.
LARGE = "n=4 c=32 in=56x56 k=32 filter=3x3 pad=1 groups=32 dtype=f16 layout=nhwc dir=fwd"


@test
def a_missed_budget_is_shown():
    arguments = ["--kernel", "direct_fwd", DEPTHWISE]
    result = counted(*arguments)
    expect_run(result, 0)
    rows, summary = result.records()
    row = rows[0]
    expect(summary["missed"] == summary["counted"] == 1, summary)
    expect(row["l2_ratio"] > 1.15 and row["missed"] == "l2_ratio %.4g > 1.15" % row["l2_ratio"], row)
    people = run("bench", "--device", "emulated", *arguments)
    line = next(line for line in people.out.splitlines() if "direct_fwd" in line)
    expect(" %.3f>1.15 " % row["l2_ratio"] in line and line.endswith("  ok  scaled"), line)
    expect("1 counted: 1 miss a budget" in people.out, people.out)


@test
def a_kept_budget_is_shown():
    rows, summary = counted("--kernel", "direct_fwd", "n=128 c=64 in=14x14 k=64 filter=1x1 groups=64 dtype=f32 "
                            "layout=nchw dir=fwd").records()
    expect(rows[0]["missed"] == "none" and 1 <= rows[0]["l2_ratio"] < 1.15, rows)
    expect(summary["missed"] == 0 and summary["counted"] == 1, summary)


@test
def what_is_counted_is_the_scaled_problem():
    row = counted("--kernel", "direct_fwd", DEPTHWISE).records()[0][0]
    expect(row["scaled_from"] and "n=2000" in row["scaled_from"].split(), row)
    expect(row["bytes_floor"] == bytes_of(row["problem"]) < bytes_of(row["scaled_from"]), row)


@test
def a_device_that_does_not_count_says_so():
    result = counted("--dtype", "f32", "--dir", "fwd", SMALL, env={"GDNN_EMULATED_DRIVER": PLAIN_DRIVER})
    expect_run(result, 0, "does not count")
    rows, summary = result.records()
    expect(rows[0]["pass"] is True and summary["counted"] == 0, rows, summary)
    expect(all(rows[0][key] is None for key in COUNTS[1:]), rows)


@test
def rows_that_do_not_run_have_no_figures():
    for result, fields in ((counted("--dtype", "f32", SMALL, env={"GROUPDNN_DISABLE": "fwd"}), COUNTS),
                           (timed("--dtype", "f32", SMALL, GROUPDNN_DISABLE="fwd"), TIMES)):
        expect_run(result, 0)
        rows, summary = result.records()
        expect(summary["skipped"] == 1 and summary["passed"] == 2, summary)
        expect_fields(rows[0], COMPARE + fields)
        expect(rows[0]["reason"] == "disabled", rows[0])
        for key in fields:
            expect(rows[0][key] in (None, False) or (key == "samples" and rows[0][key] == 0), key, rows[0])


@test
def rows_fit_a_page():
    long = "name=a_name_of_exactly_forty_letters_as_it_is "
    shown = [run("bench", "--device", "emulated", long + DEPTHWISE, long + SMALL + " dtype=f16 dir=bwd_filter").out,
             timed(long + LARGE, long + SMALL + " dtype=f16 dir=bwd_filter").err]
    for text in shown:
        lines = text.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("name "))
        for line in lines[start:start + 3]:
            expect(len(line) <= 120, len(line), line)
        expect(len(lines[start + 1]) - len("  ok  scaled") == len(lines[start + 2]) - len("  ok") == len(lines[start]),
               text)


@test
def options_and_messages():
    text = run("bench", "--help").out
    for piece in ("--device", "--workspace", "l2_ratio 1.15: depthwise, straight from global memory", "1.31>1.15"):
        expect(piece in " ".join(text.split()), piece, text)
    expect_run(run("bench"), 2, "what to bench?")
    expect_run(run("bench", "--device", "tpu", SMALL), 2, "groupdnn bench: --device tpu")
    expect_run(run("bench", "--device", "gpu", SMALL, env={"CUDA_VISIBLE_DEVICES": "", "PTXM_NO_DEVICE": "1"}), 3,
               "no GPU")
    expect_run(counted(SMALL, env={"GDNN_EMULATED_DRIVER": "/no/such/libcuda.so.1"}), 3, "/no/such/libcuda.so.1")


@test
def times_have_their_fields():
    problems = [SMALL + " dtype=f16 layout=nhwc", "n=2 c=4 in=60 k=8 filter=3 pad=1 groups=4 dtype=f32"]
    result = timed(*problems, GDNN_FAKE_NAME="NVIDIA H200")
    expect_run(result, 0, "times mean nothing", CUDNN)
    rows, summary = result.records()
    expect_fields(summary, COMPARE_SUMMARY + TIMES_SUMMARY)
    expect(len(rows) == 6 and summary["timed"] == summary["beside_cudnn"] == 6, summary)
    expect(summary["cudnn"] == CUDNN and summary["real_time"] is False, summary)
    for row in rows:
        expect_fields(row, COMPARE + TIMES)
        expect(row["pass"] is True and row["samples"] >= 3 and row["timed_kernel"] == row["kernel"], row)
        expect(0 < row["ms_min"] <= row["ms"] <= row["ms_max"], row)
        expect(row["cudnn_ms"] == row["cudnn_legacy_ms"] > 0 and row["cudnn_graph_ms"] is None, row)
        expect(math.isclose(row["ratio"], row["cudnn_ms"] / row["ms"], rel_tol=1e-4), row)
        expect(math.isclose(row["gbps"], bytes_of(row["problem"]) / row["ms"] * 1e-6, rel_tol=1e-4), row)
        expect(row["floor_us"] == 2, "a launch takes longer than so little memory", row)
        expect(math.isclose(row["percent_of_floor"], 0.2 / row["ms"], rel_tol=1e-4), row)
        expect(row["real_time"] is False, row)
        # The double computes in float64 and rounds once.
        expect(0 < row["cudnn_err_l2"] <= row["tol"] and row["vs_cudnn_l2"] <= row["tol"], row)


@test
def ratios_are_summed_up():
    rows, summary = timed("--dtype", "f32,f16", SMALL, SMALL.replace("n=2", "n=1")).records()

    def geomean(ratios):
        return math.exp(sum(map(math.log, ratios)) / len(ratios))
    for direction in ("fwd", "bwd_data", "bwd_filter"):
        ratios = [row["ratio"] for row in rows if row["dir"] == direction]
        expect(len(ratios) == 4 and math.isclose(summary["ratio_" + direction], geomean(ratios), rel_tol=1e-4), summary)
    ratios = [row["ratio"] for row in rows]
    expect(math.isclose(summary["ratio"], geomean(ratios), rel_tol=1e-4), summary)
    expect(summary["below_one"] == len([ratio for ratio in ratios if ratio < 1]), summary)


@test
def the_whole_problem_is_timed():
    row = timed(LARGE, GDNN_FAKE_NAME="NVIDIA H200").records()[0][0]
    whole = bytes_of(row["scaled_from"])
    expect(math.isclose(row["gbps"], whole / row["ms"] * 1e-6, rel_tol=1e-4), row)
    expect(is_near(row["floor_us"], max(2, whole / 4.3e6)), row)


@test
def without_cudnn_there_is_no_ratio():
    result = timed("--dtype", "f32", SMALL, cudnn="/no/such/libcudnn.so.9")
    expect_run(result, 0)
    expect(result.err.count("/no/such/libcudnn.so.9") == 1, "said once", result.err)
    rows, summary = result.records()
    for row in rows:
        expect(row["ms"] > 0 and row["gbps"] > 0, row)
        for key in ("cudnn_ms", "cudnn_legacy_ms", "cudnn_graph_ms", "ratio"):
            expect(row[key] is None, key, row)
    expect(summary["timed"] == 3 and summary["beside_cudnn"] == 0 and summary["below_one"] == 0, summary)
    expect(summary["ratio"] is None and summary["cudnn"] is None, summary)


@test
def what_cudnn_does_not_run_has_no_ratio():
    for problem, piece in ((SMALL + " act=relu", "without bias, z and activation"),
                           (SMALL + " pad_after=2x0", "pads both ends alike")):
        result = timed("--dtype", "f32", "--dir", "fwd", problem)
        expect_run(result, 0, piece)
        row = result.records()[0][0]
        expect(row["ms"] > 0 and row["cudnn_legacy_ms"] is None and row["ratio"] is None, row)
        expect(row["cudnn_err_l2"] is None and row["vs_cudnn_l2"] is None, row)
    for call, without in ((1, "cudnn_err_l2"), (2, "ratio")):
        result = timed("--dtype", "f32", "--dir", "fwd", SMALL, GDNN_DOUBLE_FAIL="cudnnConvolutionForward:%d" % call)
        expect_run(result, 0, "cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED")
        row = result.records()[0][0]
        expect([key for key in ("cudnn_err_l2", "ratio") if row[key] is None] == [without], row)


@test
def cudnn_scales_prior_contents_too():
    row = timed("--dtype", "f64", SMALL + " beta=0.5 mode=conv", "--dir", "bwd_data").records()[0][0]
    expect(row["cudnn_err_l2"] < 1e-15 and row["vs_cudnn_l2"] < 1e-15, row)


@test
def the_drop_in_stays_out_of_it():
    log = place("calls")
    result = timed("--dtype", "f32", "--dir", "fwd", SMALL, LD_PRELOAD=DROPIN, GROUPDNN_MODE="force",
                   GDNN_DOUBLE_LOG=log)
    expect_run(result, 0)
    with open(log) as file:
        calls = [line for line in file if line.startswith("cudnnConvolutionForward ")]
    # One to compare, two to warm up, and a sample each.
    expect(len(calls) == 1 + 2 + result.records()[0][0]["samples"], calls)


@test
def a_driver_that_fails_is_a_failure():
    for call in ("cuEventCreate:2", "cuEventRecord:4", "cuLaunchKernelEx:2", "cuEventElapsedTime:5"):
        result = timed("--dtype", "f32", "--dir", "fwd", SMALL, GDNN_FAKE_FAIL=call)
        expect_run(result, 1, "FAILED", call.split(":")[0])
        rows, summary = result.records()
        expect(rows[0]["pass"] is False and rows[0]["ms"] is None and rows[0]["ratio"] is None, rows)
        expect(summary["failed"] == 1 and summary["timed"] == 0, summary)


@test
def too_little_memory_is_said():
    # Enough for the scaled problem, not for the whole one.
    result = timed("--kernel", "direct_fwd", LARGE.replace("n=4", "n=128"), GDNN_FAKE_MEMORY="8000000")
    expect_run(result, 0, "Not timed: ", "do not fit into the device's memory")
    rows, summary = result.records()
    expect(rows[0]["pass"] is True and rows[0]["ms"] is None and rows[0]["samples"] == 0, rows)
    expect(summary["timed"] == 0, summary)


if CUDNN_GRAPHS:
    @test
    def plans_of_graphs_are_timed():
        problems = [SMALL.replace("c=4", "c=16").replace("k=4", "k=16") + " layout=nhwc",
                    "n=2 c=16 in=60 k=16 filter=3 pad=1 groups=4"]
        rows, summary = timed("--dtype", "f16", *problems, cudnn=CUDNN_GRAPHS).records()
        expect(summary["beside_cudnn"] == len(rows) == 6, summary)
        for row in rows:
            expect(row["cudnn_graph_ms"] > 0 and row["cudnn_legacy_ms"] > 0, row)
            expect(row["cudnn_ms"] == min(row["cudnn_graph_ms"], row["cudnn_legacy_ms"]), row)
            expect(math.isclose(row["ratio"], row["cudnn_ms"] / row["ms"], rel_tol=1e-4), row)

    @test
    def graphs_pad_each_end_as_they_like():
        row = timed("--dtype", "f16", "--dir", "fwd", SMALL + " pad_after=2x0 layout=nhwc",
                    cudnn=CUDNN_GRAPHS).records()[0][0]
        expect(row["cudnn_legacy_ms"] is None and row["cudnn_ms"] == row["cudnn_graph_ms"] > 0, row)
        expect(row["cudnn_err_l2"] <= row["tol"] and row["vs_cudnn_l2"] <= row["tol"], row)


tool.main()
