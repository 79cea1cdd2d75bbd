"""gpu-probe on the emulated device: its kernels compute what they should, layouts are the manual's, and what goes wrong is said.

Arguments: the program and two doubles of libcuda.so.1 that have its kernels, the second with faults."""

import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

import tool
from tool import expect, expect_run, test

DOUBLE, WRONG = sys.argv[2:]


def probe(*arguments, **env):
    return tool.run("--device", "emulated", *arguments, env={"GDNN_EMULATED_DRIVER": DOUBLE, **env})


@test
def all_is_right_on_the_emulated_device():
    result = probe("--json", "-")
    expect_run(result, 0, "layouts ...", "memory ...")
    rows, summary = result.records()
    expect(all(row["outcome"] == "right" for row in rows), rows)
    expect(summary["right"] == len(rows) and summary["wrong"] == summary["measured"] == 0, summary)
    names = [row["name"] for row in rows]
    for wanted in ("shfl.idx, .up, .down, .xor", "ldmatrix.x1, .x2, .x4, and with .trans", "ffma", "ldmatrix.x4", "1 block",
                   "copy, 16 bytes a thread", "read of 1 MiB, past L1", "32 KiB: 4 deep, 2 blocks"):
        expect(wanted in names, names)
    products = [name for name in names if name.startswith("mma_")]
    expect(len(products) == 10 and len(set(products)) == 5, "each is looked at and timed", products)


@test
def the_table_has_the_same_rows():
    table = probe().out
    rows, _ = probe("--json", "-").records()
    for row in rows:
        expect(row["section"] in table and row["name"] in table, row, table)
    expect(table.splitlines()[0].startswith("emulated GPU (sm_90): compute capability 9.0, 132 multiprocessors"), table)


@test
def what_is_wrong_is_found():
    result = probe("--json", "-", GDNN_EMULATED_DRIVER=WRONG)
    rows, summary = result.records()
    wrong = {row["name"]: row["text"] for row in rows if row["outcome"] == "WRONG"}
    expect(result.code == 1 and summary["wrong"] == 2, result.code, summary)
    expect(list(wrong) == ["ldmatrix.x1, .x2, .x4, and with .trans", "ffma"], wrong)
    # Four words for each form: .x1.trans has words 12 to 15.
    expect("word 16 of lane 0 is" in wrong["ldmatrix.x1, .x2, .x4, and with .trans"], wrong)
    expect("does not compute" in wrong["ffma"], wrong)


@test
def what_has_no_time_left_is_skipped():
    rows, summary = probe("--json", "-", "--seconds", "0").records()
    skipped = [row for row in rows if row["outcome"] == "skipped"]
    expect(len(skipped) == summary["skipped"] > 20 and all("no time" in row["text"] for row in skipped), rows)
    expect(all(row["section"].startswith("layouts") for row in rows if row not in skipped), rows)


@test
def what_the_driver_refuses_ends_it_and_keeps_the_rows_before():
    result = probe("--json", "-", GDNN_FAKE_FAIL="cuLaunchKernelEx:95:700")
    expect_run(result, 1, "cuLaunchKernelEx")
    rows, _ = result.records()
    expect(rows and rows[0]["outcome"] == "right" and len(rows) < 40, rows)


@test
def a_device_with_too_little_memory_is_the_machine_s_fault():
    expect_run(probe(GDNN_FAKE_MEMORY="1000000"), 3, "do not fit")


@test
def without_a_device_it_says_so():
    expect_run(probe(GDNN_EMULATED_DRIVER="/no/such/libcuda.so.1"), 3, "/no/such/libcuda.so.1")


@test
def wrong_options_are_refused():
    for wrong, piece in ((["--device", "tpu"], "--device tpu"), (["--seconds", "-1"], "--seconds -1"),
                         (["--seconds", "1s"], "--seconds 1s"), (["--fast"], "--fast"), (["file"], "'file'"),
                         (["--json", "/no/such/file"], "/no/such/file")):
        expect_run(probe(*wrong), 2, piece)
    result = probe("--help")
    expect(result.code == 0 and "--quick" in result.out and not result.err, result.out)


@test
def output_that_cannot_be_written_is_a_failure():
    with open("/dev/full", "wb") as full:
        result = tool.run("--device", "emulated", env={"GDNN_EMULATED_DRIVER": DOUBLE}, stdout=full)
    expect_run(result, 3, "not everything could be written")


tool.main()
