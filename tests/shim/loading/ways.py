"""The ways by which programs get at cuDNN, each with the drop-in in front; and which real library it then forwards to.

Programs and modules with an RPATH or RUNPATH have the folder 90100 beside them in it."""

import os
import shutil

from stage import (NVIDIA, SHIM, SHIM_FOLDER, bring, built, expect, expect_direct, expect_ours, main, place, run, test,
                   test_each)


# Linked with cuDNN.

@test_each
def linked_and_preloaded(kind):
    real = kind.put("90200")
    result = run(built("linked_plain"), "linked", "descriptor", "text=0", "mapped", preload=[SHIM], paths=[real.folder])
    expect_ours(result, "linked", real)
    expect(result.lines["descriptor"] == "0 0", result.out)
    expect(result.lines["text"] == kind.success, result.out)
    expect(SHIM in result.mapped(), result.out)


@test_each
def linked_and_found_by_library_path(kind):
    real = kind.put("90200")
    result = run(built("linked_plain"), "linked", "mapped", paths=[SHIM_FOLDER, real.folder])
    expect_ours(result, "linked", real)


@test_each
def library_path_comes_before_runpath(kind):
    program, real = bring("linked_runpath", "program"), kind.put("90100")
    expect_ours(run(program, "linked", "mapped", paths=[SHIM_FOLDER]), "linked", real)
    expect_ours(run(program, "linked", "mapped", preload=[SHIM]), "linked", real)


@test_each
def only_a_preload_comes_before_rpath(kind):
    program, real = bring("linked_rpath", "program"), kind.put("90100")
    result = run(program, "linked", "mapped", paths=[SHIM_FOLDER])
    expect_direct(result, "linked", real)
    expect(SHIM not in result.mapped(), result.out)
    expect_ours(run(program, "linked", "mapped", preload=[SHIM]), "linked", real)


@test_each
def linked_with_all_bound_at_start(kind):
    real = kind.put("90200")
    for program, env in (("linked_now", {}), ("linked_plain", {"LD_BIND_NOW": "1"})):
        result = run(built(program), "linked", "descriptor", preload=[SHIM], paths=[real.folder], env=env)
        expect_ours(result, "linked", real)


# Opened by name.

FLAGS = ("open", "open-global", "open-deepbind")


@test_each
def opened_by_name_and_preloaded(kind):
    real = kind.put("90200")
    for flags in FLAGS:
        result = run(built("client"), flags + "=libcudnn.so.9", "found", "default", "mapped", preload=[SHIM],
                     paths=[real.folder])
        expect_ours(result, "found", real)
        expect_ours(result, "default", real)


@test_each
def opened_by_name_and_found_by_library_path(kind):
    real = kind.put("90200")
    for name in ("libcudnn.so.9", "libcudnn.so"):
        for flags in FLAGS:
            result = run(built("client"), "%s=%s" % (flags, name), "found", "default", "mapped",
                         paths=[SHIM_FOLDER, real.folder])
            expect_ours(result, "found", real)
            expect(result.lines["default"].startswith("none") != (flags == "open-global"), flags, result.out)


@test_each
def opened_closed_and_called_again(kind):
    real = kind.put("90200")
    steps = ["open=libcudnn.so.9", "found", "close", "kept"]
    for how in ({"paths": [SHIM_FOLDER, real.folder]}, {"preload": [SHIM], "paths": [real.folder]}):
        result = run(built("client"), *steps, *steps, "mapped", **how)
        expect_ours(result, "found", real)
        expect(result.lines["kept"] == str(real.version) and result.lines["closed"] == "0", result.out)
        expect(SHIM in result.mapped(), result.out)


@test_each
def the_next_one_behind_a_wrapper(kind):
    """RTLD_NEXT from a profiler's library is the drop-in, and from the program."""
    real = kind.put("90200")
    wrapper = built("module_wraps.so")
    result = run(built("linked_plain"), "linked", "next", "mapped", preload=[wrapper, SHIM], paths=[real.folder])
    expect(result.lines["linked"] == "%d %s" % (real.version, wrapper), result.out)
    expect(result.lines["wrapped"] == str(real.version), result.out)
    result = run(built("client"), "next", "mapped", preload=[SHIM], paths=[real.folder])
    expect_ours(result, "next", real)


# The real one is there first, as after a framework's ctypes.CDLL with an absolute path.

@test_each
def opened_by_path_before_a_module_needs_it(kind):
    module, real = bring("module_rpath.so", "module.so"), kind.put("90100")
    for flags in FLAGS:
        steps = [flags + "=" + real.path, "module=" + module, "mapped"]
        expect_direct(run(built("client"), *steps), "module", real)
        expect_ours(run(built("client"), *steps, preload=[SHIM]), "module", real)


@test_each
def the_path_leads_elsewhere_than_the_rpath(kind):
    """What is in memory counts, not where the module would have looked; the program still has what it opened."""
    module, first = bring("module_rpath.so", "module.so"), kind.put("90200")
    other = kind.put("90100")
    for flags in FLAGS:
        result = run(built("client"), flags + "=" + first.path, "found", "module=" + module, "mapped", preload=[SHIM])
        expect_direct(result, "found", first)
        expect_ours(result, "module", first)
        expect(other.path not in result.mapped(), result.out)


@test_each
def none_is_there_yet(kind):
    module, real = bring("module_rpath.so", "module.so"), kind.put("90100")
    elsewhere = kind.put("90200")
    result = run(built("client"), "module=" + module, "mapped", preload=[SHIM], paths=[elsewhere.folder])
    expect_ours(result, "module", real)
    expect(elsewhere.path not in result.mapped(), result.out)


@test_each
def the_variable_comes_before_all(kind):
    module, first = bring("module_rpath.so", "module.so"), kind.put("90200")
    kind.put("90100")
    named = kind.put("90300")
    result = run(built("client"), "open=" + first.path, "module=" + module, "mapped", preload=[SHIM],
                 env={"GROUPDNN_CUDNN": named.path})
    expect_ours(result, "module", named)


@test_each
def the_log_says_which_and_why(kind):
    module, first = bring("module_rpath.so", "module.so"), kind.put("90200")
    kind.put("90100")
    for steps, env, real, origin in [
            (["open=" + first.path], {}, "90200", "already loaded"),
            ([], {}, "90100", "RPATH"),
            ([], {"GROUPDNN_CUDNN": first.path}, "90200", "GROUPDNN_CUDNN")]:
        result = run(built("client"), *steps, "module=" + module, preload=[SHIM], env={"GROUPDNN_LOG": "info", **env})
        path = place(real, "libcudnn.so.9")
        expect("is %s (%s)\n" % (path, origin) in result.err, path, origin, result.err)


# Copies of the drop-in.

@test_each
def a_second_copy_of_the_drop_in(kind):
    """It forwards to the real library too, and neither to itself nor to the first."""
    real = kind.put("90200")
    os.makedirs(place("copy"))
    copy = shutil.copy(SHIM, place("copy", "libcudnn.so.9"))
    result = run(built("client"), "default", "open=" + copy, "found", "mapped", preload=[SHIM], paths=[real.folder])
    expect_ours(result, "default", real)
    expect(result.lines["found"] == "%d %s" % (real.version, copy), result.out)
    expect({copy, SHIM} < set(result.mapped()), result.out)
    for paths in ([real.folder], [SHIM_FOLDER, place("copy"), real.folder]):
        result = run(built("client"), "open=" + copy, "found", "open=" + SHIM, "default", "found", "mapped", paths=paths)
        expect_ours(result, "found", real)


# What binds to what.

def bindings(text):
    """(who, to whom, symbol), as LD_DEBUG=bindings tells."""
    for line in text.splitlines():
        words = line.split()
        if "binding" in words:
            yield words[words.index("file") + 1], words[words.index("to") + 1], words[words.index("symbol") + 1]


if NVIDIA:
    CREATED = ["cudnnCreate%sDescriptor" % what for what in ("Tensor", "Convolution", "Pooling", "RNN", "Activation")]

    @test
    def cudnns_own_libraries_bind_to_each_other():
        result = run(built("linked_plain"), "linked", "descriptor", *("create=" + name for name in CREATED), "mapped",
                     preload=[SHIM], env={"LD_DEBUG": "bindings", "LD_BIND_NOW": "1", "GROUPDNN_CUDNN": NVIDIA})
        expect(result.out.count("create 0\n") == len(CREATED), result.out)
        mapped = {os.path.basename(path) for path in result.mapped()}
        expect({"libcudnn_graph.so.9", "libcudnn_ops.so.9", "libcudnn_cnn.so.9", "libcudnn_adv.so.9"} <= mapped, mapped)
        bound = list(bindings(result.err))
        expect(any("libcudnn_cnn" in who and "libcudnn_ops" in to and "cudnn" in symbol for who, to, symbol in bound),
               "no symbol of cuDNN is bound within it", len(bound))
        to_us = {(who, symbol) for who, to, symbol in bound if to == SHIM and who != SHIM}
        expect(not {who for who, _ in to_us if "libcudnn" in who}, sorted(to_us)[:20])
        program = {symbol.strip("`'") for who, symbol in to_us if who == built("linked_plain")}
        expect({"cudnnGetVersion", "cudnnCreateTensorDescriptor"} <= program, program)


main()
