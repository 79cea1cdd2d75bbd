"""The drop-in under valgrind: no memory is misused, none is lost. Nothing is launched: valgrind does not know the stacks
of the emulated device."""

import os

from stage import DOUBLE, DRIVER, SHIM, StandIn, built, expect, expect_ours, main, place, run, test

ERROR = 9


def report():
    with open(place("report"), encoding="utf-8", errors="replace") as file:
        return file.read()


def memcheck(program, *arguments, code=0, **more):
    result = run("valgrind", "--quiet", "--error-exitcode=%d" % ERROR, "--leak-check=full",
                 "--errors-for-leak-kinds=definite", "--log-file=" + place("report"), "--fair-sched=yes", built(program),
                 *arguments, code=None, **more)
    expect(result.code == code and bool(report()) == bool(code), "exit status %d instead of %d" % (result.code, code),
           result.err, report())
    return result


@test
def what_is_lost_is_reported():
    real = StandIn.put("90200")
    memcheck("linked_plain", "create=cudnnCreateTensorDescriptor", code=ERROR, paths=[real.folder])
    expect("definitely lost" in report(), report())


@test
def a_program_that_calls():
    real = StandIn.put("90200")
    result = memcheck("linked_plain", "linked", "descriptor", "text=0", "open=libcudnn.so.9", "found", "close", "mapped",
                      preload=[SHIM], paths=[real.folder])
    expect_ours(result, "linked", real)


@test
def no_library():
    result = memcheck("linked_plain", "linked", "descriptor", preload=[SHIM],
                      env={"GROUPDNN_CUDNN": place("none", "libcudnn.so.9")})
    expect(result.lines["linked"] == "0 " + SHIM and "does not exist" in result.err, result.out, result.err)


@test
def legacy_calls_from_threads():
    for mode, counted in (("observe", "calls: 0 by groupdnn, %d by cudnn" % (4 * 6 * 3)), ("off", "")):
        env = {"GROUPDNN_MODE": mode, "GROUPDNN_STATS": "1", "GROUPDNN_TRACE": place("trace"),
               "GROUPDNN_LOG": "calls:" + place("log")}
        memcheck("callers", DRIVER, preload=[SHIM], env=env, paths=[os.path.dirname(DOUBLE), os.path.dirname(DRIVER)])
        with open(place("log"), encoding="utf-8") as file:
            expect(counted in file.read(), mode)


main()
