"""What the tests of the command line share: running the tool, and TAP output."""

import json
import os
import subprocess
import sys
import tempfile
import traceback

TOOL = os.path.abspath(sys.argv[1])
FOLDER = tempfile.TemporaryDirectory(prefix="groupdnn_cli_")
SMALL = "n=2 c=4 in=6x5 k=4 filter=3x3 pad=1 groups=2"

# The fields of a row and of the summary; bench has them too, before its own.
COMPARE = ["problem", "scaled_from", "dir", "route", "kernel", "reason", "err_l2", "tol", "cudnn_err_l2",
           "vs_cudnn_l2", "launches", "pass"]
COMPARE_SUMMARY = ["run", "passed", "failed", "skipped", "seed", "device"]

_tests = []


class Result:
    def __init__(self, run):
        self.code = run.returncode
        self.out = run.stdout.decode("utf-8")
        self.err = run.stderr.decode("utf-8")

    def records(self):
        """Standard output as JSON lines: the rows, and the summary. JSON has no NaN."""
        def refuse(word):
            raise AssertionError("not JSON: " + word)
        lines = [json.loads(line, parse_constant=refuse, object_pairs_hook=unique)
                 for line in self.out.splitlines()]
        return lines[:-1], lines[-1]


def unique(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "a key twice: %s" % keys
    return dict(pairs)


def run(*arguments, env=None, stdin=b"", stdout=subprocess.PIPE):
    """Runs the tool. GROUPDNN_* of the caller are left out, so that results do not depend on them."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GROUPDNN_")}
    clean.update(env or {})
    done = subprocess.run([TOOL, *arguments], stdout=stdout, stderr=subprocess.PIPE, env=clean,
                          input=stdin, timeout=600)
    if done.stdout is None:
        done.stdout = b""
    return Result(done)


def compare(*arguments, env=None):
    return run("compare", "--device", "emulated", "--json", "-", *arguments, env=env)


def place(name):
    return os.path.join(FOLDER.name, name)


def write(name, text):
    path = place(name)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def expect(condition, *facts):
    if not condition:
        raise AssertionError("\n".join(str(fact) for fact in facts))


def expect_fields(record, fields):
    expect(list(record) == fields, "fields are", list(record), "instead of", fields)


def expect_run(result, code, *pieces):
    """The exit status, and pieces that standard error must hold."""
    expect(result.code == code, "exit status %d instead of %d" % (result.code, code), result.out,
           result.err)
    for piece in pieces:
        expect(piece in result.err, "'%s' is not in the message: %s" % (piece, result.err))


def test(function):
    _tests.append(function)
    return function


def main():
    print("1..%d" % len(_tests), flush=True)
    failed = 0
    for number, function in enumerate(_tests, 1):
        name = function.__name__.replace("_", " ")
        try:
            function()
            print("ok %d %s" % (number, name), flush=True)
        except Exception:
            failed += 1
            print("not ok %d %s" % (number, name))
            for line in traceback.format_exc().splitlines():
                print("# " + line)
            sys.stdout.flush()
    FOLDER.cleanup()
    sys.exit(1 if failed else 0)
