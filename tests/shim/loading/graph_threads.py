"""Plans of the graph interface under 32 threads, with ThreadSanitizer in the drop-in, on the double of the driver."""

import os

from stage import DRIVER, built, expect, main, run, test

SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "threads.supp")


def threads(mode, *arguments, code=0):
    env = {"GROUPDNN_MODE": mode, "TSAN_OPTIONS": "exitcode=66:suppressions=" + SUPPRESSIONS}
    return run(built("graph_threads"), DRIVER, *arguments, env=env, code=code)


@test
def a_race_is_reported():
    result = threads("force", "race", code=66)
    expect("WARNING: ThreadSanitizer: data race" in result.err and "unguarded" in result.err, result.err[-6000:])


@test
def plans_of_ours():
    expect(not threads("force").err)


@test
def plans_of_both():
    result = threads("verify")
    expect("ThreadSanitizer" not in result.err, result.err[:6000])


@test
def plans_of_cudnns():
    expect(not threads("observe").err)
    expect(not threads("on").err)


main()
