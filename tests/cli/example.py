"""The README's example, a program that links cuDNN and knows nothing of groupdnn: alone, and with the drop-in.

Arguments: the tool, the program, a libcudnn.so.9 and a libcuda.so.1 that need no GPU."""

import os
import subprocess
import sys

import tool
from tool import compare, expect, expect_run, place, run, test

PROGRAM, CUDNN, DRIVER = (os.path.abspath(path) for path in sys.argv[2:5])
LIBRARIES = {"LD_LIBRARY_PATH": "%s:%s" % (os.path.dirname(DRIVER), os.path.dirname(CUDNN)), "LD_PRELOAD": ""}


def alone(**env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GROUPDNN_")}
    done = subprocess.run([PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**clean, **LIBRARIES, **env},
                          timeout=120)
    expect(done.returncode == 0 and not done.stderr, done.returncode, done.stderr)
    return done.stdout.decode()


def with_drop_in(*options):
    result = run("run", *options, "--", PROGRAM, env=LIBRARIES)
    expect_run(result, 0)
    return result


def sums():
    """y of the example by its definition, with the numbers that it makes."""
    n, c, size = 8, 32, 14

    def filled(count, seed):
        values = []
        for _ in range(count):
            seed = (seed * 1103515245 + 12345) % 2**32
            values.append((seed >> 16 & 3) - 2)
        return values
    x, w = filled(n * c * size * size, 1), filled(c * 9, 2)
    total = weighted = index = 0
    for image in range(n * c):
        plane, taps = x[image * size * size:][:size * size], w[image % c * 9:][:9]
        for row in range(size):
            for column in range(size):
                y = sum(taps[3 * i + j] * plane[(row + i - 1) * size + column + j - 1]
                        for i in range(3) if 0 <= row + i - 1 < size
                        for j in range(3) if 0 <= column + j - 1 < size)
                total += y
                weighted += y * (index % 1009)
                index += 1
    return "sum of y %d, weighted %d\n" % (total, weighted)


@test
def the_sums_are_right_whoever_runs_it():
    expected = alone()
    expect(expected.endswith(sums()), expected, sums())
    for mode in ("off", "observe", "on", "force", "verify"):
        result = with_drop_in("--mode", mode)
        expect(result.out == expected, mode, result.out, expected)
        # verify says what it found without being asked
        expect(bool(result.err) == (mode == "verify"), mode, result.err)


@test
def the_table_says_who_ran_it():
    for mode, words in [("on", ["1", "cudnn", "no-evidence"]), ("force", ["1", "groupdnn", "dw_plane_3x3_s1_fwd"]),
                        ("verify", ["1", "both", "dw_plane_3x3_s1_fwd", "1", "0", "0"]),
                        ("observe", ["1", "cudnn", "no-evidence"])]:
        stats = [] if mode == "verify" else ["--stats"]
        lines = with_drop_in("--mode", mode, *stats).err.splitlines()
        expect(len(lines) == 4, lines)
        expect("mode %s, cuDNN " % mode in lines[0] and CUDNN in lines[0], lines[0])
        expect(lines[2].split()[1:1 + len(words)] == words, lines[2])
        expect("dir=fwd dtype=f32 layout=nchw n=8 c=32 in=14x14 k=32 filter=3x3 pad=1 groups=32" in lines[2], lines[2])
    expect(not with_drop_in("--mode", "off").err, "off")
    lines = with_drop_in("--mode", "off", "--stats").err.splitlines()
    expect(len(lines) == 2 and "mode off, cuDNN " in lines[0] and "mode off forwards every call" in lines[1], lines)


@test
def the_trace_is_read_by_the_tool():
    path = place("trace.txt")
    for _ in range(2):
        with_drop_in("--trace", path)
    with open(path) as file:
        lines = file.readlines()
    expect(len(lines) == 2 and lines[0] == lines[1], lines)
    result = compare(path)
    expect_run(result, 0)
    rows, _ = result.records()
    expect([row["problem"] for row in rows] == [line.strip() for line in lines], rows)
    expect(run("explain", path).code == 0, "explain")


@test
def a_variable_does_the_same():
    shim = run("info", "--json", "-").records()[1]["drop_in"]
    log = place("log.txt")
    expected = alone()
    out = alone(LD_PRELOAD=shim, GROUPDNN_MODE="force", GROUPDNN_STATS="1", GROUPDNN_LOG="error:" + log)
    expect(out == expected, out, expected)
    with open(log) as file:
        expect("groupdnn  dw_plane_3x3_s1_fwd" in file.read(), "the table is in the log's file")


tool.main()
