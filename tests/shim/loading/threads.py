"""The drop-in with ThreadSanitizer inside, under 32 threads, on the doubles of cuDNN and of the driver."""

import os
import re
import shutil

from stage import DOUBLE, DRIVER, built, expect, main, place, run, test

SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "threads.supp")


def double():
    """The double of cuDNN at a path of a multiple of 8 bytes: threads.supp says why."""
    folder = place("cudnn")
    folder += "_" * (-len(folder + "/libcudnn.so.9") % 8)
    os.makedirs(folder, exist_ok=True)
    return shutil.copy(DOUBLE, os.path.join(folder, "libcudnn.so.9"))


def threads(mode, *arguments, code=0, **options):
    env = {"GROUPDNN_CUDNN": double(), "GROUPDNN_MODE": mode,
           "TSAN_OPTIONS": "exitcode=66:suppressions=" + SUPPRESSIONS}
    env.update(("GROUPDNN_" + name.upper(), value) for name, value in options.items())
    return run(built("threads"), DRIVER, *arguments, paths=[os.path.dirname(DRIVER)], env=env, code=code)


def calls(result):
    """By groupdnn, by cuDNN, by both: of the table's last line."""
    line = re.search(r"calls: (\d+) by groupdnn, (\d+) by cudnn, (\d+) by both", result.err)
    expect(line, result.err[-3000:])
    return [int(number) for number in line.groups()]


# 32 threads of 6 rounds, two of them without groups, in three directions.
GROUPED, OTHERS = 32 * 4 * 3, 32 * 2 * 3


@test
def a_race_is_reported():
    result = threads("off", "race", code=66)
    expect("WARNING: ThreadSanitizer: data race" in result.err and "unguarded" in result.err, result.err)


@test
def taking_over():
    result = threads("force", stats="1", trace=place("trace"), log="calls:" + place("log"))
    expect(not result.err, result.err[-6000:])
    with open(place("log"), encoding="utf-8") as file:
        log = file.read()
    expect("calls: %d by groupdnn, %d by cudnn" % (GROUPED, OTHERS) in log, log[-3000:])
    expect(log.count(": run: ") == GROUPED, log.count(": run: "))
    with open(place("trace"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    # Groups of 8 and of 4, each with up to five sizes of batch.
    expect(len(lines) == len(set(lines)) and 6 < len(lines) <= 30, lines)


@test
def verifying():
    result = threads("verify", stats="1")
    expect("ThreadSanitizer" not in result.err, result.err[:6000])
    expect(calls(result) == [0, OTHERS, GROUPED], result.err[-3000:])


@test
def observing_and_forwarding():
    result = threads("observe", stats="1")
    expect("ThreadSanitizer" not in result.err, result.err[:6000])
    expect(calls(result) == [0, OTHERS + GROUPED, 0], result.err[-3000:])
    expect(not threads("off").err)


main()
