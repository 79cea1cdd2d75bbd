"""What the tests of loading share: programs and libraries in folders of their own, runs of them, TAP output.

Arguments: the drop-in, the build folder of this directory, --nvidia with NVIDIA's libcudnn.so.9 where there is one; and
doubles of cuDNN and of the driver for the tests that need more than a stand-in."""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

_parser = argparse.ArgumentParser()
_parser.add_argument("shim", type=os.path.realpath)
_parser.add_argument("built", type=os.path.abspath)
_parser.add_argument("--nvidia", type=os.path.realpath)
_parser.add_argument("--double", type=os.path.realpath)
_parser.add_argument("--driver", type=os.path.realpath)
_options = _parser.parse_args()

SHIM = _options.shim
SHIM_FOLDER = os.path.dirname(SHIM)
NVIDIA = _options.nvidia
DOUBLE = _options.double
DRIVER = _options.driver
NOBODY = 65534

_tests = []
_stage = None


class Skip(Exception):
    """This cannot be tried here; the reason is printed."""


def test(function):
    """A test; it begins with an empty folder."""
    _tests.append((function.__name__.replace("_", " "), function))
    return function


def test_each(function):
    """A test on every kind of real library: it gets the kind."""
    for kind in KINDS:
        _tests.append(("%s: %s" % (function.__name__.replace("_", " "), kind.name), lambda kind=kind: function(kind)))
    return function


def expect(condition, *facts):
    if not condition:
        raise AssertionError("\n".join(str(fact) for fact in facts))


def place(*names):
    return os.path.join(_stage, *names)


def built(name):
    return os.path.join(_options.built, name)


def bring(source, *names):
    """A copy of a file of the build folder at place(...), its folder made."""
    path = place(*names)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(built(source), path)
    return path


class StandIn:
    """stand_in.c: its version is the name of its folder."""
    name = "stand-in"
    success = "STAND_IN_SUCCESS"

    @staticmethod
    def put(folder, library="stand_in/libcudnn.so.9"):
        bring(library, folder, "libcudnn.so.9")
        return Real(place(folder, "libcudnn.so.9"), int(folder.split("/")[-1]))


class Nvidia:
    """NVIDIA's: a copy of the dispatcher beside links to the libraries that do the work."""
    name = "NVIDIA's"
    success = "CUDNN_STATUS_SUCCESS"

    @staticmethod
    def put(folder):
        os.makedirs(place(folder))
        for file in glob.glob(os.path.join(os.path.dirname(NVIDIA), "libcudnn_*.so.9*")):
            os.symlink(file, place(folder, os.path.basename(file)))
        shutil.copy(NVIDIA, place(folder, "libcudnn.so.9"))
        return Real(place(folder, "libcudnn.so.9"), _nvidia_version())


class Real:
    """A real library that stands somewhere."""

    def __init__(self, path, version):
        self.path = path
        self.folder = os.path.dirname(path)
        self.version = version


_known = []


def _nvidia_version():
    if not _known:
        result = run(built("client"), "open=" + NVIDIA, "found")
        _known.append(int(result.lines["found"].split()[0]))
    return _known[0]


KINDS = [StandIn] + ([Nvidia] if NVIDIA else [])


class Result:
    """Of a run: exit status, standard error, and the lines by their first word."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr
        self.lines = {}
        for line in done.stdout.splitlines():
            word, _, rest = line.partition(" ")
            self.lines[word] = rest

    def mapped(self):
        return self.lines["mapped"].split()


def run(program, *arguments, preload=(), paths=(), env=None, code=0, **more):
    """Runs a program in an environment without what would decide for it."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("GROUPDNN_", "LD_", "FAKETIME", "MALLOC_"))}
    if preload:
        clean["LD_PRELOAD"] = ":".join(preload)
    if paths:
        clean["LD_LIBRARY_PATH"] = ":".join(paths)
    clean.update(env or {})
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean,
                          text=True, errors="replace", timeout=100, check=False, **more)
    result = Result(done)
    expect(code is None or result.code == code, "exit status %d instead of %s" % (result.code, code),
           result.out[-3000:], result.err[-3000:])
    return result


def expect_ours(result, step, real, quiet=True):
    """The step's function is the drop-in's, and the answer that of the real library, which is in memory."""
    expect(result.lines.get(step) == "%d %s" % (real.version, SHIM), step, "wanted: %d %s" % (real.version, SHIM),
           result.out, result.err)
    if "mapped" in result.lines:
        expect(real.path in result.mapped(), "wanted: " + real.path, result.out)
    expect(not quiet or not result.err, result.err)


def expect_direct(result, step, real):
    """The step's function is the real library's own."""
    expect(result.lines.get(step) == "%d %s" % (real.version, real.path), step,
           "wanted: %d %s" % (real.version, real.path), result.out, result.err)


def main():
    global _stage
    print("1..%d" % len(_tests), flush=True)
    failed = 0
    for number, (name, function) in enumerate(_tests, 1):
        with tempfile.TemporaryDirectory(prefix="groupdnn_loading_") as folder:
            _stage = os.path.realpath(folder)
            os.chmod(_stage, 0o755)
            try:
                function()
                print("ok %d %s" % (number, name), flush=True)
            except Skip as reason:
                print("ok %d %s # SKIP %s" % (number, name, reason), flush=True)
            except Exception:
                failed += 1
                print("not ok %d %s" % (number, name))
                for line in traceback.format_exc().splitlines():
                    print("# " + line)
                sys.stdout.flush()
    sys.exit(1 if failed else 0)
