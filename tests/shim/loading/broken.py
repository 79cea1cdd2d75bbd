"""Real libraries that are odd or cannot be used: one message, cuDNN's own statuses, and the program goes on."""

import os
import shutil
import subprocess

from stage import (NOBODY, NVIDIA, SHIM, StandIn, bring, built, expect, expect_ours, main, place, run, test)

STATUS_LOADING_FAILED = 1008


@test
def a_constructor_calls_cudnn():
    """The call from within the opening has no library behind it yet; later ones have."""
    real = StandIn.put("90200", "stand_in_calls.so")
    result = run(built("linked_plain"), "linked", "descriptor", "mapped", preload=[SHIM], paths=[real.folder])
    expect_ours(result, "linked", real)
    expect(result.lines["constructor"] == "0" and result.lines["descriptor"] == "0 0", result.out)


@test
def a_library_that_needs_libcudnn_itself():
    real = StandIn.put("90200", "stand_in_needs_us.so")
    for how in ({"preload": [SHIM], "paths": [real.folder]}, {"paths": [os.path.dirname(SHIM), real.folder]}):
        result = run(built("linked_plain"), "linked", "descriptor", "mapped", **how)
        expect_ours(result, "linked", real)


def expect_unusable(path, *pieces, **more):
    """With this as the real library: the program's steps, each twice."""
    steps = ["linked", "descriptor", "create=cudnnCreatePoolingDescriptor", "text=%d" % STATUS_LOADING_FAILED]
    result = run(built("linked_plain"), *steps, *steps, preload=[SHIM],
                 env={"GROUPDNN_CUDNN": path, **more.pop("env", {})}, **more)
    expect(result.lines["linked"] == "0 " + SHIM, result.out)
    expect(result.lines["descriptor"] == "%d %d" % (STATUS_LOADING_FAILED, STATUS_LOADING_FAILED), result.out)
    expect(result.lines["create"] == str(STATUS_LOADING_FAILED), result.out)
    expect(result.lines["text"] == "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED", result.out)
    expect(result.err.count("\n") == 1 and result.err.startswith("groupdnn: cuDNN cannot be used"), result.err)
    for piece in (path, "GROUPDNN_CUDNN", *pieces):
        expect(piece in result.err, piece, result.err)


@test
def it_is_missing():
    expect_unusable(place("none", "libcudnn.so.9"), "does not exist")


@test
def it_cannot_be_read():
    real = StandIn.put("90200")
    os.chmod(real.path, 0)
    other_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    expect_unusable(real.path, "Permission denied", **other_user)


@test
def it_is_no_library():
    os.makedirs(place("90200"))
    path = place("90200", "libcudnn.so.9")
    for content, piece in ((b"", "empty"), (b"/* GNU ld script */\n", "ELF"), (b"\x7fELF", "")):
        with open(path, "wb") as file:
            file.write(content)
        expect_unusable(path, piece)
    os.remove(path)
    os.mkdir(path)
    expect_unusable(path)


@test
def it_is_cut_short():
    real = StandIn.put("90200")
    os.truncate(real.path, os.path.getsize(real.path) // 2)
    expect_unusable(real.path, "cut short")


@test
def it_is_the_drop_in():
    copy = shutil.copy(SHIM, place("libcudnn.so.9"))
    link = place("link")
    os.symlink(SHIM, link)
    for path in (SHIM, copy, link):
        expect_unusable(path, "groupdnn itself")


def fake(name):
    return bring("../fakes/fake_%s.so" % name, name, "libcudnn.so.9")


@test
def it_is_another_version():
    expect_unusable(fake("cudnn_8"), "libcudnn.so.8", "version 9 is needed")
    expect_unusable(fake("cudnn_wrong_version"), "8907")


@test
def it_is_another_library():
    expect_unusable(fake("other"), "libother.so.1")


@test
def it_lacks_what_it_needs():
    expect_unusable(fake("cudnn_unresolved"), "fake_forgotten")


def sublibraries_in_cache():
    try:
        cache = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, text=True, check=False).stdout
    except OSError:
        cache = ""
    return "libcudnn_graph.so.9 " in cache


@test
def a_dispatcher_alone():
    """It would end the process. Where the machine has cuDNN's other libraries for all, it is not alone."""
    for source in ["../fakes/fake_cudnn_dispatcher.so"] + ([NVIDIA] if NVIDIA else []):
        path = bring(source, os.path.basename(source), "libcudnn.so.9")
        if sublibraries_in_cache():
            result = run(built("linked_plain"), "linked", preload=[SHIM], env={"GROUPDNN_CUDNN": path})
            expect(not result.err and not result.lines["linked"].startswith("0 "), result.out, result.err)
        else:
            expect_unusable(path, "libcudnn_graph.so.9")


@test
def a_dispatcher_beside_what_is_no_library():
    path = bring("../fakes/fake_cudnn_dispatcher.so", "libcudnn.so.9")
    with open(place("libcudnn_graph.so.9"), "w", encoding="utf-8") as file:
        file.write("no library\n")
    if not sublibraries_in_cache():
        expect_unusable(path, "libcudnn_graph.so.9")
        return
    result = run(built("linked_plain"), "linked", preload=[SHIM], env={"GROUPDNN_CUDNN": path}, code=None)
    expect(result.code == 0, result.out, result.err)


@test
def the_search_passes_over_what_is_broken():
    real = StandIn.put("90300")
    for folder in ("90201", "90202"):
        os.makedirs(place(folder))
        with open(place(folder, "libcudnn.so.9"), "w", encoding="utf-8") as file:
            file.write("no library\n")
    result = run(built("linked_plain"), "linked", "mapped", preload=[SHIM],
                 paths=[place("90201"), place("90202"), real.folder])
    expect_ours(result, "linked", real)


main()
