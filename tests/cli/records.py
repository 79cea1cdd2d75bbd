"""JSON records: their fields, in order, and what they say."""

import json

import tool
from tool import COMPARE, COMPARE_SUMMARY, SMALL, compare, expect, expect_fields, expect_run, place, run, test, write

EXPLAIN = ["problem", "dir", "route", "kernel", "reason", "evidence", "workspace", "floor_us", "predicted_us"]
KERNELS = ["name", "dir", "layout", "dtypes", "evidence", "archs", "regs", "spills", "smem"]


@test
def compare_has_a_row_for_everything_that_is_open():
    result = compare("--layout", "nchw,nhwc", SMALL)
    expect_run(result, 0)
    rows, summary = result.records()
    expect_fields(summary, COMPARE_SUMMARY)
    expect(len(rows) == 3 * 3 * 2, len(rows))
    expect(len({row["problem"] for row in rows}) == len(rows), "rows that are the same")
    for row in rows:
        expect_fields(row, COMPARE)
        expect(row["pass"] is True and row["launches"] == 1 and row["reason"] == "taken", row)
        expect(row["route"] == "groupdnn" and row["scaled_from"] is None, row)
        expect(0 <= row["err_l2"] <= row["tol"] < 0.01, row)
        expect("dir=" + row["dir"] in row["problem"].split(), row)
        expect(row["cudnn_err_l2"] is None and row["vs_cudnn_l2"] is None, row)
    expect(summary == {"run": 18, "passed": 18, "failed": 0, "skipped": 0, "seed": 1, "device": "emulated"},
           summary)


@test
def a_row_can_be_run_again_from_its_problem():
    first = compare("--dtype", "f16", "--seed", "7", "name=a " + SMALL + " pad_after=2x0 act=relu").records()
    again = compare("--seed", "7", first[0][0]["problem"]).records()
    expect(first == again, first, again)
    other = compare("--seed", "8", first[0][0]["problem"]).records()
    expect(other[0][0]["err_l2"] != first[0][0]["err_l2"], "the seed changes nothing")


@test
def json_files_and_standard_output_are_the_same():
    path = place("rows.json")
    result = run("compare", "--device=emulated", "--dtype=f32", "--json=" + path, SMALL)
    expect_run(result, 0)
    expect("direct_fwd" in result.out and "{" not in result.out, result.out)
    with open(path) as file:
        written = file.read()
    expect(written == compare("--dtype", "f32", SMALL).out, written)


@test
def large_problems_are_scaled_and_say_so():
    large = "name=big n=64 c=96 in=61x59 k=192 filter=5x3 pad=2x1 stride=2 groups=96"
    result = compare("--dtype", "f16", "--dir", "fwd", "--layout", "nhwc", large)
    expect_run(result, 0, "scaled")
    row = result.records()[0][0]

    def fields(text):
        return dict(token.split("=") for token in text.split())
    old, new = fields(row["scaled_from"]), fields(row["problem"])
    expect(old["n"] == "64" and old["in"] == "61x59" and old["c"] == "96", old)
    expect(int(new["n"]) < 64, new)
    expect(int(new["c"]) * 2 == int(new["k"]), new)
    for key in ("filter", "pad", "stride", "dtype", "layout", "name", "dir"):
        expect(old[key] == new[key], key, old, new)
    whole = "n=4 c=32 in=30x30 k=64 filter=5x5 pad=2 groups=32 dir=fwd dtype=f32"
    expect(compare(whole).records()[0][0]["scaled_from"] is not None, "2.9 million multiply-adds are not scaled")
    row = compare("--no-scale", whole).records()[0][0]
    expect(row["scaled_from"] is None and "in=30x30" in row["problem"], row)


@test
def a_file_of_problems():
    path = write("net.txt", "# two layers\nname=a %s\nname=b %s dtype=f64 dir=bwd_filter # one row\n" % (SMALL, SMALL))
    rows, summary = compare("--dtype", "f32,f16", path, SMALL + " dtype=bf16 dir=fwd").records()
    expect(summary["run"] == 6 + 1 + 1, summary)
    expect([row["problem"].split()[0] for row in rows] == ["name=a"] * 6 + ["name=b", "dir=fwd"], rows)


@test
def one_kernel_only():
    rows, summary = compare("--dtype", "f32", "--kernel", "direct_bwd_data", SMALL).records()
    expect([row["pass"] for row in rows] == [None, True, None], rows)
    expect(rows[0]["reason"] == "kernel-option" and rows[0]["route"] == "cudnn", rows[0])
    expect(summary["skipped"] == 2 and summary["passed"] == 1, summary)


@test
def explain_tells_the_route():
    result = run("explain", "--json", "-", "--dtype", "f16,f32", SMALL)
    expect_run(result, 0)
    rows, summary = result.records()
    expect(len(rows) == 6, rows)
    expect_fields(summary, ["explained", "taken", "forwarded", "device"])
    for row in rows:
        expect_fields(row, EXPLAIN)
        expect(row["floor_us"] > 0 and row["predicted_us"] is None and row["workspace"] == 0, row)
    direct = [row for row in rows if row["kernel"].startswith("direct_")]
    for row in direct: # nothing shows that the direct family wins
        expect(row["route"] == "cudnn" and row["reason"] == "no-evidence" and row["evidence"] == "none", row)


@test
def explain_honours_the_environment():
    def one(**env):
        names = {"GROUPDNN_" + key.upper(): value for key, value in env.items()}
        return run("explain", "--json", "-", "--dtype", "f32", "--dir", "fwd", SMALL, env=names).records()[0][0]
    expect(one(mode="force")["route"] == "groupdnn" and one(mode="force")["reason"] == "taken", one(mode="force"))
    expect(one(mode="off")["reason"] == "mode-off", one(mode="off"))
    expect(one(mode="force", disable="fwd")["reason"] == "disabled", one(mode="force", disable="fwd"))
    expect(one(mode="force", kernel="direct_fwd")["kernel"] == "direct_fwd", "kernel")
    expect(one(mode="force", kernel="direct_bwd_data")["reason"] == "kernel-option", "other kernel")


@test
def explain_uses_the_facts_of_the_device():
    big = "n=128 c=256 in=56x56 k=256 filter=3x3 pad=1 groups=256 dtype=f32 dir=fwd layout=nhwc"
    bytes_moved = 4 * (2 * 128 * 256 * 56 * 56 + 256 * 9)

    def floor(facts):
        rows, summary = run("explain", "--json", "-", "--device-facts", facts, big).records()
        return rows[0]["floor_us"], summary["device"]
    us, name = floor("h200")
    expect("H200" in name and abs(us - bytes_moved / 4.3e6) < 0.01 * us, us, name)
    mine = write("facts.txt", "name=Mine\nsm=90\nmultiprocessors=10\nshared_bytes=232448\nbandwidth_gbs=100\n")
    us, name = floor(mine)
    expect(name == "Mine" and abs(us - bytes_moved / 1e5) < 0.01 * us, us, name)


@test
def kernels_are_listed():
    rows, summary = run("kernels", "--json", "-").records()
    expect(summary == {"kernels": len(rows)} and len(rows) >= 3, summary)
    names = [row["name"] for row in rows]
    expect(len(set(names)) == len(names) and "direct_fwd" in names, names)
    for row in rows:
        expect_fields(row, KERNELS)
        expect(row["dir"] in ("fwd", "bwd_data", "bwd_filter"), row)
        expect(row["evidence"] in ("measured", "counted", "none"), row)
        if "sm_" in row["archs"]:
            expect(16 <= row["regs"] <= 255 and row["spills"] >= 0 and row["smem"] >= 0, row)
        else:
            expect(row["regs"] is None and row["spills"] is None and row["smem"] is None, row)


@test
def info_tells_where_options_come_from():
    env = {"GROUPDNN_MODE": "observe", "GROUPDNN_LOG": "loud", "GROUPDNN_KERNLE": "x"}
    result = run("info", "--json", "-", env=env)
    expect_run(result, 0)
    rows, summary = result.records()
    expect_fields(summary, ["version", "archs", "driver", "driver_version", "gpus", "cudnn", "cudnn_version",
                            "drop_in", "missing"])
    options = {row["name"]: row for row in rows if row["item"] == "option"}
    for row in rows:
        expect_fields(row, ["item", "name", "value", "origin"])
    expect(options["GROUPDNN_MODE"]["value"] == "observe", options)
    expect(options["GROUPDNN_MODE"]["origin"] == "environment", options)
    expect(options["GROUPDNN_DISABLE"]["origin"] == "default", options)
    expect("loud" in options["GROUPDNN_LOG"]["origin"] and options["GROUPDNN_LOG"]["value"] == "off", options)
    expect("GROUPDNN_KERNEL" in options["GROUPDNN_KERNLE"]["origin"], options)


@test
def info_checks_the_files_that_options_name():
    def origins(**env):
        result = run("info", "--json", "-", env={"GROUPDNN_" + key: value for key, value in env.items()})
        expect_run(result, 0)
        return {row["name"]: row["origin"] for row in result.records()[0] if row["item"] == "option"}
    there = write("libcudnn.so.9", "")
    expect(origins(CUDNN=there)["GROUPDNN_CUDNN"] == "environment", "a file that is there")
    expect("no such file" in origins(CUDNN=place("none"))["GROUPDNN_CUDNN"], "a file that is not there")
    expect(origins(LOG="info:" + place("log"))["GROUPDNN_LOG"] == "environment", "a log file to be")
    expect("folder does not exist" in origins(LOG="info:" + place("none/log"))["GROUPDNN_LOG"], "no folder")


@test
def info_fits_and_says_things_once():
    result = run("info", env={"GROUPDNN_LOG": "loud", "GROUPDNN_KERNLE": "x", "GROUPDNN_DISABLE": "no_such_kernel_at_all",
                              "CUDA_VISIBLE_DEVICES": ""})
    expect_run(result, 0)
    for line in result.out.splitlines():
        expect(len(line) <= 120 and line == line.rstrip(), line)
    driver = next(line for line in result.out.splitlines() if line.startswith("CUDA driver: "))
    if ": none: " in driver: # this machine has no driver
        expect(driver.startswith("CUDA driver: none: libcuda.so.1") and "no CUDA driver" not in driver, driver)


tool.main()
