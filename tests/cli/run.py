"""`groupdnn run`: what the command gets, and what is said when it cannot get it.

Arguments: the tool, and the folder with small/, newer/, crashing/ and eight/libcudnn.so.9, and the programs linked_*."""

import os
import shutil
import stat
import struct
import subprocess
import sys

import tool
from tool import expect, expect_run, place, run, test, write

CUDNN = os.path.abspath(sys.argv[2])
SMALL = os.path.join(CUDNN, "small", "libcudnn.so.9")
NEWER = os.path.join(CUDNN, "newer", "libcudnn.so.9")
EIGHT = os.path.join(CUDNN, "eight", "libcudnn.so.9")
DROP_IN = os.path.realpath(os.path.join(os.path.dirname(tool.TOOL), "../shim/libcudnn.so.9"))
PRINT = 'import os, sys; print(repr(sys.argv[1:])); print(repr(dict(os.environ)))'


def groupdnn_run(*arguments, env=None, **more):
    """With a real cuDNN that no machine's own can stand in for."""
    settings = {"GROUPDNN_CUDNN": SMALL, "LD_PRELOAD": ""}
    settings.update(env or {})
    return run("run", *arguments, env=settings, **more)


def environment(*options, env=None):
    """The environment of a command."""
    result = groupdnn_run(*options, "--", sys.executable, "-c", PRINT, env=env)
    expect_run(result, 0)
    expect(not result.err, result.err)
    return eval(result.out.splitlines()[1]) # pylint: disable=eval-used


def executable(name, text, mode=0o755):
    path = write(name, text)
    os.chmod(path, mode)
    return path


@test
def the_drop_in_is_preloaded():
    expect(environment()["LD_PRELOAD"] == DROP_IN, environment()["LD_PRELOAD"])


@test
def other_preloads_stay_behind_it():
    link = place("other_name.so")
    os.symlink(DROP_IN, link)
    for before in (SMALL, ":%s " % SMALL, "%s:%s" % (DROP_IN, SMALL), "%s %s  %s" % (SMALL, link, DROP_IN)):
        after = environment(env={"LD_PRELOAD": before})["LD_PRELOAD"]
        expect(after == "%s:%s" % (DROP_IN, SMALL), before, after)


@test
def options_become_variables():
    before = environment()
    expect(not [name for name in before if name.startswith("GROUPDNN_") and name != "GROUPDNN_CUDNN"], before)
    env = environment("--mode", "verify", "--log=error", "--stats", "--disable", "fwd,direct_bwd_data", "--kernel",
                      "direct_fwd", "--trace", "/tmp/%p.txt", "--cudnn", SMALL)
    for name, value in {"MODE": "verify", "LOG": "error", "STATS": "1", "DISABLE": "fwd,direct_bwd_data",
                        "KERNEL": "direct_fwd", "TRACE": "/tmp/%p.txt", "CUDNN": SMALL}.items():
        expect(env["GROUPDNN_" + name] == value, name, env)
    expect(environment("--mode", "off", env={"GROUPDNN_MODE": "force"})["GROUPDNN_MODE"] == "off", "the flag counts")
    expect(environment(env={"GROUPDNN_MODE": "force"})["GROUPDNN_MODE"] == "force", "variables stay")


@test
def wrong_variables_are_left_to_the_command():
    """The drop-in reports their values, in every process that calls cuDNN; nobody else finds a wrong name."""
    result = groupdnn_run("true", env={"GROUPDNN_MODE": "fast"})
    expect_run(result, 0)
    expect(not result.err, result.err)
    result = groupdnn_run("true", env={"GROUPDNN_MOD": "off", "GROUPDNN_QQQQQQQQ": ""})
    expect_run(result, 0, "groupdnn run: GROUPDNN_MOD: there is no such option; ignored; did you mean GROUPDNN_MODE\n",
               "groupdnn run: GROUPDNN_QQQQQQQQ: there is no such option; ignored\n")


@test
def help_is_legible():
    lines = run("run", "--help").out.splitlines()
    expect(all(len(line) <= 80 for line in lines), lines)
    expect("  --mode off|observe|on|force|verify" in lines, "the values stand alone", lines)
    expect(any(line.startswith("  --trace FILE   ") for line in lines), lines)


@test
def every_option_has_a_flag():
    help_text = run("run", "--help").out
    options = run("info", "--json", "-").records()[0]
    for row in options:
        if row["item"] == "option":
            expect("  --%s " % row["name"][9:].lower() in help_text, row["name"])


@test
def files_do_not_depend_on_the_folder():
    here = os.getcwd()
    env = environment("--log", "info:a b.log", "--trace", "sub/%p.txt", "--cudnn", os.path.relpath(SMALL))
    expect(env["GROUPDNN_LOG"] == "info:%s/a b.log" % here, env["GROUPDNN_LOG"])
    expect(env["GROUPDNN_TRACE"] == here + "/sub/%p.txt", env["GROUPDNN_TRACE"])
    expect(os.path.isabs(env["GROUPDNN_CUDNN"]) and os.path.samefile(env["GROUPDNN_CUDNN"], SMALL), env)


@test
def the_command_is_what_follows():
    for before in ([], ["--"], ["--mode", "force", "--"], ["--mode=force"]):
        result = groupdnn_run(*before, sys.executable, "-c", PRINT, "--mode", "x", "--", "-z", "")
        expect_run(result, 0)
        expect(result.out.splitlines()[0] == "['--mode', 'x', '--', '-z', '']", before, result.out)
    result = groupdnn_run("cat", stdin=b"to standard input")
    expect(result.out == "to standard input", result.out)


@test
def its_status_is_the_commands():
    for status in (0, 1, 3, 77, 255):
        expect_run(groupdnn_run("sh", "-c", "exit %d" % status), status)
    expect(groupdnn_run("sh", "-c", "kill -9 $$").code == -9, "signals are the command's too")


@test
def scripts_are_run():
    expect_run(groupdnn_run(executable("script", "#!/bin/sh\nexit 5\n")), 5)
    expect_run(groupdnn_run(executable("plain", "exit 6\n")), 6)
    path = {"PATH": "%s:%s" % (tool.FOLDER.name, os.environ["PATH"])}
    expect_run(groupdnn_run("script", env=path), 5)


@test
def commands_that_do_not_start():
    nobody = executable("not_executable", "exit 0\n", 0o644)
    for command, code, piece in [("no-such-command", 127, "no-such-command: there is no such command"),
                                 (place("no/such"), 127, "there is no such command"),
                                 (nobody, 126, "not_executable: Permission denied"),
                                 (tool.FOLDER.name, 126, "Permission denied"),
                                 ("", 127, "there is no such command")]:
        expect_run(groupdnn_run(command), code, "groupdnn run: ", piece)
    expect_run(groupdnn_run(executable("bad_loader", "#!/no/such/loader\n")), 127, "bad_loader")


@test
def wrong_options():
    for arguments, pieces in [
            ([], ["what to run?", "groupdnn run [OPTION]... -- COMMAND"]),
            (["--"], ["what to run?"]),
            (["--mode", "fast", "true"], ["--mode fast: not one of", "accepted: off|observe|on|force|verify\n"]),
            (["--mode=", "true"], ["--mode: the value is empty"]),
            (["--stats=1", "true"], ["--stats takes no value"]),
            (["--kernel", "direct_fdw", "true"], ["there is no \"direct_fdw\"", "`groupdnn kernels` lists"]),
            (["--disable", "forward", "true"], ["there is no \"forward\""]),
            (["--log", "loud", "true"], ["--log loud: ", "accepted: off|error|info|calls\n"]),
            (["--disable", "fwd,", "true"], ["--disable fwd,: an empty word", "<kernel>\n"]),
            (["--kernel", "fwd", "true"], ["--kernel fwd: there is no \"fwd\"; the names are those that `groupdnn kernels` lists"]),
            (["--cudnn", place("none.so"), "true"], ["--cudnn %s does not exist" % place("none.so")]),
            (["--cudnn", "sub/none.so", "true"], ["--cudnn %s/sub/none.so does not exist" % os.getcwd()]),
            (["--cudnn", EIGHT, "true"], ["--cudnn %s says that its version is 8900" % EIGHT]),
            (["--summary", "true"], ["no option --summary"]),
            (["--moed", "off", "true"], ["--moed", "did you mean --mode?"]),
            (["--trace"], ["--trace needs a value"])]:
        expect_run(groupdnn_run(*arguments), 2, "groupdnn run: ", *pieces)


@test
def no_drop_in():
    result = groupdnn_run("true", env={"GDNN_SHIM": place("no/libcudnn.so.9")})
    expect_run(result, 3, "groupdnn run: the drop-in is missing", "no/libcudnn.so.9", "build or install it")


@test
def paths_that_ld_preload_cannot_hold():
    folder = place("a folder")
    os.mkdir(folder)
    shutil.copy(DROP_IN, folder)
    result = groupdnn_run("true", env={"GDNN_SHIM": folder + "/libcudnn.so.9"})
    expect_run(result, 3, "LD_PRELOAD cannot hold", "a folder", "blanks and colons")


@test
def a_newer_cudnn_runs_without_it():
    for how in ({"env": {"GROUPDNN_CUDNN": NEWER}}, {"options": ["--cudnn", NEWER]}):
        result = groupdnn_run(*how.get("options", []), "sh", "-c", "echo \"[$LD_PRELOAD]\"", env=how.get("env"))
        expect_run(result, 0, "groupdnn run: " + NEWER, "cudnnOfTomorrow", "cudnnOfTheDayAfter",
                   "the command runs without groupdnn")
        expect(result.out == "[]\n", result.out)


def package(prefix, library):
    folder = os.path.join(prefix, "lib/python3.11/site-packages/nvidia/cudnn/lib")
    os.makedirs(folder)
    shutil.copy(library, folder)
    return os.path.join(folder, "libcudnn.so.9")


@test
def the_packages_of_a_program_are_looked_at():
    there = package(place("venv"), NEWER)
    os.mkdir(place("venv/bin"))
    os.symlink("/bin/sh", place("venv/bin/python"))
    env = {"GROUPDNN_CUDNN": ""}
    result = groupdnn_run(place("venv/bin/python"), "-c", "true", env=env)
    expect_run(result, 0, there, "Python packages beside the program")
    env["PATH"] = "%s:%s" % (place("venv/bin"), os.environ["PATH"])
    expect_run(groupdnn_run("python", "-c", "true", env=env), 0, there)
    os.chdir(place("venv/bin"))
    expect_run(groupdnn_run("./python", "-c", "true", env={"GROUPDNN_CUDNN": ""}), 0, "libcudnn.so.9")
    os.chdir(tool.FOLDER.name)
    result = groupdnn_run("true", env={"GROUPDNN_CUDNN": "", "VIRTUAL_ENV": place("venv")})
    expect_run(result, 0, there, "VIRTUAL_ENV")


@test
def where_the_program_is_linked_to_counts():
    """Its cuDNN has functions that the drop-in lacks: with the drop-in in front it would not start."""
    def expect_own(*command, **env):
        result = groupdnn_run(*command, env={"GROUPDNN_CUDNN": "", **env})
        expect_run(result, 0, "newer/libcudnn.so.9", "cudnnOfTomorrow", "the command runs without groupdnn")
        expect(result.out == "tomorrow 0\n", result.out)
    venv = {"VIRTUAL_ENV": place("of_another")}
    package(place("of_another"), SMALL)
    for name in ("rpath", "runpath", "held", "chained"):
        program = os.path.join(CUDNN, "linked_" + name)
        expect_own(program, **venv)
        expect_own("linked_" + name, PATH=CUDNN)
        expect_own(executable("script_of_" + name, "#! %s \n" % program), **venv)
        expect_own(executable("env_of_" + name, "#!/usr/bin/env linked_%s\n" % name),
                   PATH="%s:%s" % (CUDNN, os.environ["PATH"]))
        expect_own(executable("split_of_" + name, "#!/usr/bin/env -S linked_%s -x\n" % name),
                   PATH="%s:%s" % (CUDNN, os.environ["PATH"]))
    os.symlink(os.path.join(CUDNN, "linked_runpath"), place("linked_link"))
    expect_own(place("linked_link"))


@test
def no_cudnn_is_no_matter():
    result = groupdnn_run("echo", "it runs", env={"GROUPDNN_CUDNN": place("none.so")})
    expect_run(result, 0)
    expect(result.out == "it runs\n" and not result.err, result.out, result.err)


def least_program():
    """A program for x86-64 that needs no loader: exit(0)."""
    code = b"\x31\xff\xb8\x3c\x00\x00\x00\x0f\x05"
    head = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(code), 120 + len(code), 4096)
    return head + segment + code


@test
def programs_that_are_not_reached():
    path = executable("static", least_program())
    expect_run(groupdnn_run(path), 0, "static: it is statically linked, so groupdnn does not reach it")
    if os.geteuid() != 0:
        return
    path = place("other_rights")
    shutil.copy("/bin/true", path)
    os.chown(path, 65534, -1)
    os.chmod(path, 0o755 | stat.S_ISUID)
    expect_run(groupdnn_run(path), 0, "other_rights: it is setuid or setgid, so groupdnn does not reach it")


@test
def programs_run_as_before():
    """Whatever is preloaded, programs that never call cuDNN print what they print, and nothing is opened."""
    for command in (["sh", "-c", "echo $((6 * 7)); ls / >/dev/null"], [sys.executable, "-c", "print(42)"]):
        plain = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
        result = groupdnn_run("--stats", "--trace", place("nothing.txt"), "--", *command)
        expect_run(result, 0)
        expect(result.out == plain and not result.err, result.out, result.err)
    expect(not os.path.exists(place("nothing.txt")), "a trace without a call")


os.chdir(tool.FOLDER.name)
tool.main()
