"""Help, exit statuses and messages: wrong input of every kind is named."""

import errno
import json
import os
import subprocess

import tool
from tool import SMALL, compare, expect, expect_run, place, run, test, write

COMMANDS = ["compare", "bench", "explain", "kernels", "info", "check"] # and run, which has no records


@test
def help_of_the_tool():
    for word in ("--help", "-h", "help"):
        result = run(word)
        expect_run(result, 0)
        for command in COMMANDS + ["run"]:
            expect("  %s " % command in result.out, command, result.out)
    expect_run(run(), 2, "usage: groupdnn COMMAND")
    expect(run("--version").out.startswith("groupdnn 0."), "version")


@test
def help_of_every_command():
    for command in COMMANDS:
        result = run(command, "--help")
        expect_run(result, 0)
        expect("usage: groupdnn %s" % command in result.out, result.out)
        for option in ("--json FILE|-", "--help"):
            expect(option in result.out, option, result.out)
        expect(not result.err, result.err)
    expect_run(run("run", "--help"), 0)
    expect("usage: groupdnn run" in run("run", "--help").out, "run")
    for option in ("--device", "--dtype", "--layout", "--dir", "--kernel", "--no-scale", "--seed", "--dump",
                   "--x", "--w", "--dy", "--z", "--bias"):
        expect(option in run("compare", "--help").out, option)
    explain = run("explain", "--help").out
    expect("--device-facts h200|a100|t4|FILE" in explain and "rtx4090" in explain, explain)


@test
def unknown_words_get_suggestions():
    expect_run(run("comapre"), 2, "there is no command comapre", "did you mean compare?")
    expect_run(run("zzzzzz"), 2, "zzzzzz", "groupdnn --help")
    expect_run(run("--verison"), 2, "--verison")
    for command in COMMANDS:
        expect_run(run(command, "--jsn", "x"), 2, "groupdnn %s: " % command, "--jsn", "did you mean --json?")
        expect_run(run(command, "--qqqqqqqq"), 2, "--qqqqqqqq", "--help")
        expect_run(run(command, "-q"), 2, "-q")
    expect_run(run("compare", "--dtyp=f16", SMALL), 2, "--dtyp=f16", "--dtype")


@test
def wrong_values_of_options():
    for arguments, pieces in [
            (["--device", "tpu"], ["--device tpu", "auto, gpu, emulated"]),
            (["--dtype", "f61"], ["--dtype", "f61", "f16, bf16, f32, f64"]),
            (["--dtype="], ["--dtype", "f16, bf16, f32, f64"]),
            (["--layout", "nchw,hwcn"], ["--layout", "hwcn", "nchw, nhwc"]),
            (["--dir", "forward"], ["--dir", "forward", "fwd, bwd_data, bwd_filter"]),
            (["--kernel", "direct_fdw"], ["--kernel direct_fdw", "direct_fwd"]),
            (["--kernel", "qqqqqqqqqq"], ["--kernel qqqqqqqqqq", "groupdnn kernels"]),
            (["--seed", "one"], ["--seed one", "whole number"]),
            (["--seed", "-1"], ["--seed -1"]),
            (["--seed", "99999999999999999999"], ["--seed 99999999999999999999"]),
            (["--seed", "9999999999999999999"], ["--seed 9999999999999999999"]),
            (["--seed="], ["--seed "]),
            (["--workspace", "1k"], ["--workspace 1k"]),
            (["--no-scale=yes"], ["--no-scale takes no value", "yes"]),
            (["--dump", write("a_file", "x")], ["--dump", "a_file: this is a file; a folder is needed"]),
            (["--dump", place("no/such/folder")], ["--dump", "no/such/folder"]),
            (["--json", place("no/such/file")], ["--json", "no/such/file"])]:
        expect_run(run("compare", "--device", "emulated", *arguments, SMALL), 2, "groupdnn compare: ", *pieces)
    for arguments, pieces in [
            (["--device-facts", "h100x"], ["h100x", "h200"]),
            (["--device-facts", place("none.txt")], ["none.txt"]),
            (["--device-facts", write("facts", "sm=90\nsmm=3\n")], ["facts:2: ", "smm", "did you mean sm?"]),
            (["--device-facts", write("short", "name=x\n")], ["sm, multiprocessors, shared_bytes are missing"]),
            (["--device", "h100"], ["--device", "did you mean --device-facts?"]),
            (["--dtype", "f8"], ["--dtype", "f8"])]:
        expect_run(run("explain", *arguments, SMALL), 2, "groupdnn explain: ", *pieces)
    expect_run(run("compare", SMALL, "--seed"), 2, "--seed needs a value")
    expect_run(run("info", "more"), 2, "more", "no arguments")
    expect_run(run("kernels", "more"), 2, "more", "no arguments")


@test
def wrong_problems_as_text():
    for command in ("compare", "explain"):
        expect_run(run(command), 2, "Give files")
        for text, pieces in [
                ("n=1 c=2 in=4 k=2 filter=1 groups=2 pda=1", ["pda"]),
                ("n=1 c=2 in=4 k=2 filter=1 groups=x", ["groups=x"]),
                ("n=1 c=2 in=4 k=2 filter=1 groups=2 dtype=f8", ["dtype=f8"]),
                ("n=1 c=3 in=4 k=2 filter=1 groups=2", ["c=3", "groups=2"]),
                ("n=1 c=2 in=4 k=3 filter=1 groups=2", ["k=3", "groups=2"]),
                ("n=0 c=2 in=4 k=2 filter=1 groups=2", ["n=0"]),
                ("n=1 c=2 in=-4 k=2 filter=1 groups=2", ["in=-4"]),
                ("n=1 c=2 in=4 k=2 filter=5 groups=2", ["filter=5"]),
                ("n=1 c=2 in=4x4 k=2 filter=1 groups=2", ["4x4"]),
                ("n=1 c=2 in=4 k=2 filter=1 groups=2 stride=0", ["stride=0"]),
                ("n=1 n=1 c=2 in=4 k=2 filter=1 groups=2", ["n"]),
                ("c=2 in=4 k=2 filter=1 groups=2", ["n is missing"]),
                ("n=9223372036854775807 c=2 in=4 k=2 filter=1 groups=2", ["n=9223372036854775807"]),
                ("n=99999999999999999999 c=2 in=4 k=2 filter=1 groups=2", ["n=99999999999999999999"]),
                ("n=1 c=2 in=4 k=2 filter=1 groups=2 dir=bwd_data bias=1", ["bias=1"]),
                ("# n=1", ["no problem"]),
                ("", ["an argument is empty"])]:
            expect_run(run(command, text), 2, "groupdnn %s: " % command, *pieces)
        expect_run(run(command, "--dir", "bwd_filter", SMALL + " act=relu"), 2, "dir=fwd")


@test
def wrong_files_of_problems():
    bad = write("bad.txt", "# a list\n%s\nname=x n=1 c=2 in=4 k=2 filter=9 groups=2\n" % SMALL)
    for command in ("compare", "explain"):
        expect_run(run(command, bad), 2, bad + ":3: ", "filter=9")
        expect_run(run(command, place("none.txt")), 2, "none.txt: no such file",
                   "problems are key=value text; shape files are in tests/shapes")
        expect_run(run(command, tool.FOLDER.name), 2, tool.FOLDER.name)
        expect_run(run(command, write("empty.txt", "")), 2, "empty.txt", "no problem")
        expect_run(run(command, write("zero.txt", b"n=1\0")), 2, "zero.txt:1: ")
        expect_run(run(command, write("with=sign.txt", "n=q\n")), 2, "with=sign.txt:1: ", "n=q")


@test
def files_that_are_no_text_end_at_once():
    longest = "# %s\n%s\n" % ("x" * 65534, SMALL)
    for command in (["compare", "--device", "emulated"], ["explain"]):
        command += ["--dtype", "f32", "--dir", "fwd"]
        too_long = ":1: line is longer than 65536 bytes: is this a file of problems?"
        expect_run(run(*command, "/dev/zero"), 2, "/dev/zero" + too_long)
        expect_run(run(*command, "-", stdin=b"n" * 70000), 2, "standard input" + too_long)
        late = write("late.txt", "%s\n\n# %s" % (SMALL, "x" * 65535))
        result = run(*command, late)
        expect_run(result, 2, "late.txt:3: line is longer")
        expect(not result.out, "nothing is reported where a file is wrong", result.out)
        expect_run(run(*command, write("longest.txt", longest)), 0)
        # Offset 0 of a process is no memory: reading fails.
        result = run(*command, SMALL, "/proc/self/mem")
        expect_run(result, 2, "/proc/self/mem: ", os.strerror(errno.EIO))
        expect(not result.out, result.out)
    for facts, pieces in [
            ("/dev/zero", ["/dev/zero:1: line is longer than 65536 bytes"]),
            ("/proc/self/mem", ["/proc/self/mem: "]),
            (tool.FOLDER.name, [tool.FOLDER.name]),
            (write("nul.facts", b"sm=90\nname=a\0b\n"), ["nul.facts:2: a zero byte"]),
            (write("twice.facts", "sm=90\nname=a\nsm=80\n"), ["twice.facts:3: sm=80: sm was given before"]),
            (write("far.facts", "# %s\nsm=q\n" % ("x" * 5000)), ["far.facts:2: sm=q"])]:
        expect_run(run("explain", "--device-facts", facts, SMALL), 2, *pieces)


@test
def closed_streams_take_nothing():
    record = place("closed.json")
    arguments = "compare --device emulated --dtype f32 --dir fwd --json".split() + [record, SMALL]

    def closed(number, *arguments):
        return subprocess.run(["sh", "-c", 'exec "$0" "$@" %d>&-' % number, tool.TOOL, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    for number, code in ((0, 0), (1, 3), (2, 0)):
        done = closed(number, *arguments)
        expect(done.returncode == code, number, done.returncode, done.stderr)
        with open(record) as file:
            rows = [json.loads(line) for line in file]
        expect(len(rows) == 2 and rows[0]["pass"], rows)
    done = closed(1, *arguments)
    expect(b"standard output: not everything could be written" in done.stderr, done.stderr)
    expect(closed(0, "explain", "-").returncode == 2, "standard input is closed")


@test
def terminals_are_not_controlled():
    bad = "a\x1b[31m\x7f\u009bb"
    shown = "a?[31m??b"
    problem = "name=%s %s" % (bad, SMALL)
    facts = write("facts_of_esc", "name=%s\nsm=90\nmultiprocessors=1\nshared_bytes=1024\n" % bad)
    file = write(bad + ".txt", problem)
    for result, code in [
            (compare("--dtype", "f32", "--dir", "fwd", problem), 0),
            (run("compare", "--device", "emulated", "--dtype", "f32", file, problem), 0),
            (run("explain", "--device-facts", facts, file, problem), 0),
            (run("info", env={"GROUPDNN_" + bad: bad}), 0),
            (run("compare", bad + "=1"), 2),
            (run("compare", "--" + bad, SMALL), 2),
            (run("explain", "--dtype", bad, SMALL), 2),
            (run("compare", place(bad)), 2),
            (run("compare", "--json", place("no/" + bad), "--device", "emulated", SMALL), 2),
            (run(bad), 2)]:
        expect_run(result, code)
        people = result.err + ("" if result.out.startswith("{") else result.out)
        expect(shown in people, people)
        expect(not any(c in people for c in "\x1b\x7f\x9b"), repr(people))


@test
def sizes_of_any_magnitude_end_well():
    for problem in ("n=1 c=1 in=100 k=1 filter=1 stride=1152921504606846976",
                    "n=1 c=1 in=1893061x565x1 k=1 filter=1x1x1 pad_after=427265x0x0 stride=1x4611686018427387901x1",
                    "n=1000000000000 c=1 in=1 k=1 filter=1"):
        result = compare("--dtype", "f32", "--dir", "fwd", problem)
        expect(result.code in (0, 1), result.code, result.err)
        rows, _ = result.records()
        expect(rows[0]["pass"] if result.code == 0 else rows[0]["reason"] == "too-large", rows)


@test
def what_the_machine_lacks():
    none = {"CUDA_VISIBLE_DEVICES": "", "PTXM_NO_DEVICE": "1"}
    expect_run(run("compare", "--device", "gpu", SMALL, env=none), 3, "no GPU", "--device emulated")
    none["GDNN_EMULATED_DRIVER"] = "/no/such/libcuda.so.1"
    expect_run(run("compare", SMALL, env=none), 3, "/no/such/libcuda.so.1", "-Dtests=true")
    expect_run(run("compare", "--device", "emulated", SMALL, env=none), 3, "/no/such/libcuda.so.1")
    expect_run(run("info", env=none), 0)
    with open("/dev/full", "w") as full:
        for command in ("compare", "explain", "kernels", "info"):
            arguments = [] if command in ("kernels", "info") else ["--dir", "fwd", SMALL]
            if command == "compare":
                arguments = ["--device", "emulated"] + arguments
            expect_run(run(command, *arguments, stdout=full), 3, "standard output")
            expect_run(run(command, "--json", "-", *arguments, stdout=full), 3, "written")


@test
def problems_that_are_skipped_do_not_pass():
    result = compare("--dtype", "f32", SMALL, env={"GROUPDNN_DISABLE": "all"})
    expect_run(result, 1, "skipped: disabled", "nothing was run: every problem was skipped (disabled)")
    rows, summary = result.records()
    expect(summary["skipped"] == 3 and summary["passed"] == 0 and summary["run"] == 0, summary)
    for row in rows:
        expect(row["pass"] is None and row["reason"] == "disabled" and row["kernel"] is None, row)
    result = compare("--dtype", "f32", SMALL, env={"GROUPDNN_DISABLE": "fwd"})
    expect_run(result, 0)
    expect(result.records()[1]["passed"] == 2, result.out)


@test
def a_driver_that_fails_is_a_failure():
    result = compare("--dtype", "f32", "--dir", "fwd", SMALL, env={"GDNN_FAKE_FAIL": "cuLaunchKernelEx:1"})
    expect_run(result, 1, "FAILED", "cuLaunchKernelEx")
    rows, summary = result.records()
    expect(rows[0]["pass"] is False and rows[0]["reason"] == "driver-error", rows)
    expect(summary["failed"] == 1, summary)


@test
def a_device_without_memory_skips():
    result = compare("--dtype", "f32", "--dir", "fwd", SMALL, env={"GDNN_FAKE_MEMORY": "20000"})
    expect_run(result, 1, "skipped", "memory")
    expect(result.records()[0][0]["reason"] == "memory", result.out)
    # Terabytes are refused before anything is allocated.
    huge = "n=256 c=1024 in=1024x1024 k=1024 filter=1x1 groups=1024"
    result = compare("--dtype", "f32", "--dir", "fwd", "--no-scale", huge)
    expect_run(result, 1, "skipped", "GiB")


tool.main()
