"""Processes that begin and end with the drop-in in them: fork, exec, exit."""

from stage import SHIM, SHIM_FOLDER, StandIn, built, expect, expect_ours, main, place, run, test, test_each

# Functions that may be called with zeros: the first of them is the version.
FUNCTIONS = {
    "stand-in": ["cudnnGetVersion", "cudnnGetErrorString", "cudnnDestroyTensorDescriptor", "cudnnOpsVersionCheck",
                 "cudnnDestroy", "cudnnConvolutionForward", "cudnnConvolutionBackwardFilter", "cudnnBackendFinalize",
                 "cudnnGetLastErrorString", "cudnnSetStream", "cudnnRNNForward", "cudnnGetStream"],
    "NVIDIA's": ["cudnnGetVersion", "cudnnGetErrorString", "cudnnGetCudartVersion", "cudnnGraphVersionCheck",
                 "cudnnOpsVersionCheck", "cudnnCnnVersionCheck", "cudnnAdvVersionCheck"],
}
FORK_RUNS = 20  # of ten forks each
EXIT_RUNS = 100


def in_front_of(real):
    return {"preload": [SHIM], "paths": [real.folder]}


def processes(kind, real, mode, env=None, functions=None):
    result = run(built("processes"), mode, *(functions or FUNCTIONS[kind.name]), env=env, **in_front_of(real))
    expect(not result.err, mode, result.err)


@test_each
def a_fork_before_the_first_call(kind):
    processes(kind, kind.put("90200"), "fork-before")


@test_each
def a_fork_after_calls(kind):
    processes(kind, kind.put("90200"), "fork-after")


@test_each
def a_fork_with_log_trace_and_table(kind):
    env = {"GROUPDNN_LOG": "calls:" + place("log"), "GROUPDNN_TRACE": place("trace"), "GROUPDNN_STATS": "1"}
    real = kind.put("90200")
    processes(kind, real, "fork-after", env)
    with open(place("log"), encoding="utf-8") as file:
        expect("cuDNN %d is " % real.version in file.read())


@test_each
def forks_while_a_thread_makes_first_calls(kind):
    """Each of NVIDIA's functions takes a lock of its own at its first call, and a child that is forked meanwhile waits for
    ever, with the drop-in or without. Not so for the one that the drop-in calls as it opens the library."""
    real = kind.put("90200")
    functions = FUNCTIONS[kind.name] if kind is StandIn else ["cudnnGetVersion"]
    for _ in range(FORK_RUNS):
        processes(kind, real, "fork-meanwhile", functions=functions)


@test
def forks_while_a_thread_opens_the_library():
    """No child gets a library that is half there."""
    processes(StandIn, StandIn.put("90200", "stand_in_slow.so"), "fork-meanwhile")


@test_each
def vfork_spawn_and_exec(kind):
    real = kind.put("90200")
    for mode in ("vfork", "spawn", "exec"):
        processes(kind, real, mode)


# A process that never calls cuDNN.

def opened_late(text):
    """The files that LD_DEBUG=files shows as opened by dlopen."""
    return [line for line in text.splitlines() if "dynamically loaded by" in line]


@test_each
def a_process_that_never_calls_opens_nothing(kind):
    real = kind.put("90200")
    for steps in ([], ["linked"]):
        result = run(built("linked_plain"), *steps, "mapped", env={"LD_DEBUG": "files"}, **in_front_of(real))
        expect(SHIM in result.mapped(), result.out)
        calls = bool(steps)
        expect((real.path in result.mapped()) == calls, steps, result.out)
        expect(bool(opened_late(result.err)) == calls, steps, opened_late(result.err))
    result = run("/bin/sh", "-c", "cat /proc/self/maps", **in_front_of(real))
    expect(SHIM in result.out and real.folder not in result.out and "libcuda." not in result.out, result.out)


# Ends.

@test_each
def exit_while_threads_call(kind):
    real = kind.put("90200")
    for _ in range(EXIT_RUNS if kind is StandIn else EXIT_RUNS // 5):
        result = run(built("exits"), "calling", code=7, **in_front_of(real))
        expect(not result.err, result.err)


@test
def exit_within_a_first_call():
    real = StandIn.put("90200", "stand_in_slow.so")
    for _ in range(5):
        result = run(built("exits"), "first-call", code=7, **in_front_of(real))
        expect(not result.err, result.err)


@test_each
def mains_thread_ends_first(kind):
    real = kind.put("90200")
    for env, lines in (({}, 0), ({"GROUPDNN_STATS": "1"}, 2)):
        result = run(built("exits"), "main-first", code=7, env=env, **in_front_of(real))
        expect(len(result.err.splitlines()) == lines, result.err)


@test_each
def calls_after_main(kind):
    """From atexit and a library's destructor: as the first calls of the process, and as later ones."""
    real = kind.put("90200")
    late = built("module_late.so")
    for steps in ([], ["default"]):
        for how in ({"preload": [SHIM], "paths": [real.folder]}, {"paths": [SHIM_FOLDER, real.folder]}):
            result = run(built("client"), *steps[:1 if "preload" in how else 0], "module=" + late, **how)
            expect_ours(result, "module", real)
            for when in ("atexit", "destructor"):
                expect(result.lines.get(when) == "%d 0" % real.version, when, result.out, result.err)


main()
