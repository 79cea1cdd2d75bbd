"""`groupdnn check`, and what `groupdnn info` says about the drop-in and the real cuDNN.

Arguments: the tool, and the folder with small/, newer/ and crashing/libcudnn.so.9."""

import os
import shutil
import sys

import tool
from tool import expect, expect_run, place, run, test, write

CUDNN = os.path.abspath(sys.argv[2])
SMALL, NEWER, CRASHING = (os.path.join(CUDNN, name, "libcudnn.so.9") for name in ("small", "newer", "crashing"))
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
    kernels = [row["name"] for row in run("kernels", "--json", "-").records()[0]]
    expect(list(status) == FIRST + ["emulated"] + [name + " on emulated" for name in kernels], list(status))
    for name, word in status.items():
        expect(word == ("skipped" if name == "gpu" else "ok"), name, word, detail[name])
    expect(DROP_IN in detail["drop-in"], detail)
    expect(detail["real cuDNN"] == SMALL + " (GROUPDNN_CUDNN)", detail)
    expect(detail["version"] == "9.12.34", detail)
    expect(" ns " in detail["overhead"] and "times as long" in detail["overhead"], detail)
    for name in kernels:
        expect("8 problems" in detail[name + " on emulated"], detail)


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
    expect(status["functions"] == "ok" and status["emulated"] == "ok", status)


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
    expect(status["real cuDNN"] == "failed" and "none was found" in detail["real cuDNN"], detail)
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
    for fault, pieces in [("cuLaunchKernelEx:3", ["1 of 8 problems", "cuLaunchKernelEx", "dtype=bf16"]),
                          ("cuLaunchKernelEx:3:0", ["1 of 8 problems", "groupdnn compare 'dir=fwd dtype=bf16 "])]:
        status, detail = check(1, GDNN_FAKE_FAIL=fault)
        expect([name for name in status if status[name] == "failed"] == ["direct_fwd on emulated"], status)
        for piece in pieces:
            expect(piece in detail["direct_fwd on emulated"], piece, detail)
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
        expect_run(run(command, "--program", "no-such-program"), 2, "--program no-such-program")


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
    expect(text in result.err and tried[0]["origin"][:20] in result.err, "shown where nothing is found", result.err)


@test
def info_tells_what_is_preloaded():
    rows, _, _ = info(LD_PRELOAD=DROP_IN)
    expect([row["origin"] for row in rows if row["item"] == "preload"] == ["has the drop-in"], rows)
    rows, _, _ = info(LD_PRELOAD=SMALL)
    expect([row["origin"] for row in rows if row["item"] == "preload"] == ["does not have the drop-in"], rows)


@test
def info_has_the_places_when_asked():
    plain, verbose = (run("info", *words, env=no_gpu()).out for words in ([], ["--verbose"]))
    expect("  GROUPDNN_CUDNN " in plain and plain.count("GROUPDNN_CUDNN ") < verbose.count("GROUPDNN_CUDNN "), verbose)


tool.main()
