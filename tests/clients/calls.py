"""Runs the client `calls` on NVIDIA's library, a double of it, and the drop-in in front of the double in every mode, and
compares what it says line by line. TAP."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import traceback

LINE = re.compile(r'(\d+) (\w+) (\(.*?\): -?\d+ \w+.*) "(.*)"$', re.S)
# What differs between two right answers that were rounded in another order.
ROUNDING = re.compile(r" bits=\w+ worst=\S+")
LEAST_CALLS = 300

parser = argparse.ArgumentParser()
parser.add_argument("client", type=os.path.abspath)
parser.add_argument("--double", nargs=2, required=True, metavar=("FILE", "NAME"))
parser.add_argument("--driver", required=True, help="double of libcuda.so.1", type=os.path.abspath)
parser.add_argument("--real", help="NVIDIA's library")
parser.add_argument("--shim", help="the drop-in", type=os.path.abspath)
parser.add_argument("--no-preload", action="store_true", help="a sanitizer must be loaded first")
parser.add_argument("--differences", required=True)
parser.add_argument("--statuses", required=True)
parser.add_argument("--table", help="the list of cuDNN's functions", required=True)
options = parser.parse_args()
double, name = os.path.abspath(options.double[0]), options.double[1]
folder = tempfile.TemporaryDirectory(prefix="groupdnn_calls_")
tests = []


def test(function):
    tests.append(function)
    return function


def expect(condition, *facts):
    if not condition:
        raise AssertionError("\n".join(str(fact) for fact in facts))


class Run:
    """The client's lines, and the calls that reached the double."""

    def __init__(self, what, libraries, expected=(0,), **env):
        log = os.path.join(folder.name, "log")
        if os.path.exists(log):
            os.remove(log)
        clean = {k: v for k, v in os.environ.items()
                 if not k.startswith(("GROUPDNN_", "GDNN_", "LD_"))}
        clean["LD_LIBRARY_PATH"] = ":".join(os.path.dirname(x) for x in libraries + [options.driver])
        clean["GDNN_DOUBLE_LOG"] = log
        clean.update(env)
        done = subprocess.run([options.client, what], env=clean, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=200)
        expect(done.returncode in expected, "exit status %d" % done.returncode, done.stdout[-300:],
               done.stderr[-2000:])
        expect(not done.stderr, "on standard error:", done.stderr[-2000:])
        *lines, self.summary = done.stdout.splitlines()
        matches = [LINE.match(line) for line in lines]
        expect(all(matches), "not a line of the client:",
               [line for line, match in zip(lines, matches) if not match][:1])
        self.lines = [match.groups() for match in matches]
        self.executions = []
        if os.path.exists(log):
            with open(log) as file:
                self.executions = file.read().splitlines()

    def count(self, piece):
        return sum(piece in line[2] for line in self.lines)


def alone(what, **more):
    """On the double without the drop-in. Kept: most tests compare with it."""
    if more:
        return Run(what, [double], **more)
    if what not in kept:
        kept[what] = Run(what, [double])
    return kept[what]


kept = {}


def in_front(mode, **more):
    return Run("all", [options.shim], GROUPDNN_MODE=mode, GROUPDNN_CUDNN=double, **more)


def differences(one, other, taken=lambda line: False):
    """Pairs of lines that differ; where `taken` says that a call may have been taken over, in more than rounding."""
    def plain(line):
        return tuple(ROUNDING.sub("", part) for part in line) if taken(line) else line
    expect(len(one.lines) == len(other.lines), "%d and %d calls" % (len(one.lines), len(other.lines)))
    return [(a, b) for a, b in zip(one.lines, other.lines) if plain(a) != plain(b)]


def grouped(line):
    """Calls that the drop-in may take over: several groups, as many as the descriptor says."""
    groups = re.search(r" groups=(\d+)/(\d+) ", line[2])
    return groups and int(groups[1]) > 1 and groups[1] == groups[2]


def expect_same(one, other, taken=lambda line: False):
    found = differences(one, other, taken)
    expect(not found, "%d lines differ; the first:" % len(found),
           *(" ".join(line) for line in (found[0] if found else ())))


def allowed(which):
    """(part, function) pairs of the list of differences."""
    pairs = set()
    with open(options.differences) as file:
        for line in file:
            words, _, reason = line.partition("#")
            if words.strip():
                expect(reason.strip(), "no reason: " + line)
                of, part, function = words.split()
                if of == which:
                    pairs.add((part, function))
    return pairs


def expect_alike(one, other, pairs):
    """The same but for the allowed differences; returns those that were met."""
    met = set()
    for a, b in differences(one, other):
        for part, differs in (("line", a[:3] != b[:3]), ("text", a[3] != b[3])):
            if not differs:
                continue
            reasons = {(part, a[1]), (part, "*")} & pairs
            expect(reasons, "a difference that is not in the list:", " ".join(a), " ".join(b))
            met |= reasons
    return met


@test
def results_are_right():
    run = alone("all")
    expect(len(run.lines) >= LEAST_CALLS, run.summary)
    expect(run.summary.endswith(" 0 wrong results"), run.summary)
    expect(run.count("result=ok") >= 300, run.count("result=ok"))
    expect(run.count("untouched=ok") >= 200, run.count("untouched=ok"))
    expect(run.count("WRONG") == 0)


@test
def every_execution_is_logged():
    names = ("cudnnConvolutionForward", "cudnnConvolutionBackwardData", "cudnnConvolutionBackwardFilter",
             "cudnnConvolutionBiasActivationForward", "cudnnConvolutionBackwardBias", "cudnnAddTensor")
    calls = ["%s %s" % (line[1], re.search(r"\): (-?\d+) ", line[2]).group(1))
             for line in alone("all").lines if line[1] in names]
    expect(calls == [" ".join(line.split()[:2]) for line in alone("all").executions])


@test
def the_double_exports_the_list():
    with open(options.table) as file:
        listed = re.findall(r"^GDNN_CUDNN\((\w+),", file.read(), flags=re.M)
    symbols = subprocess.run(["nm", "-D", "--defined-only", double], check=True, capture_output=True,
                             text=True).stdout.split()
    exported = sorted(symbol for symbol in symbols if symbol.endswith("@@libcudnn.so.9"))
    expect(exported == sorted(name + "@@libcudnn.so.9" for name in listed))


@test
def wrong_calls_get_the_statuses_of_nvidia():
    with open(options.statuses) as file:
        rows = [line.rstrip("\n").partition("  # ") for line in file if line.strip() and line[0] != "#"]
    for row, _, pattern in rows:
        status, what = row.split(None, 1)
        lines = [" ".join(line) for line in alone("all").lines if line[2].startswith("(%s):" % what.strip())
                 and int(line[0]) > len(alone("descriptors").lines)]
        lines = [line for line in lines if re.search(pattern, line)]
        expect(lines, "no call of the client: " + row, pattern)
        for line in lines:
            expect("(%s): %s " % (what.strip(), status) in line, "not %s:" % status, line)


@test
def faults_are_seen():
    run = alone("all", GDNN_DOUBLE_FAIL="cudnnConvolutionForward:7:5001,cudnnGetStream:2")
    found = differences(alone("all"), run)
    expect({a[1] for a, _ in found} >= {"cudnnConvolutionForward", "cudnnGetStream"}, found)
    expect(any(": 5001 " in b[2] and "untouched=ok" in b[2] for _, b in found), found)
    expect(any(": 5000 " in b[2] for _, b in found), found)


if options.real:
    @test
    def calls_without_device_give_what_nvidia_gives():
        pairs = allowed(name)
        met = expect_alike(Run("descriptors", [options.real]), alone("descriptors"), pairs)
        # The texts and the version of another release may happen to be equal.
        if name == "plain":
            expect(("text", "*") in met)

    @test
    def a_difference_from_nvidia_is_seen():
        faulty = alone("descriptors", GDNN_DOUBLE_FAIL="cudnnGetStream:1:3000,cudnnGetFilterNdDescriptor:3")
        try:
            expect_alike(Run("descriptors", [options.real]), faulty, allowed(name))
        except AssertionError as error:
            expect("not in the list" in str(error), error)
        else:
            raise AssertionError("not seen")


if options.shim:
    @test
    def drop_in_without_device_changes_nothing():
        expect_same(alone("descriptors"),
                    Run("descriptors", [options.shim], GROUPDNN_CUDNN=double, GROUPDNN_MODE="force"))

    def forwarding(mode):
        """The double computes every result, and every call reaches it once."""
        def check():
            log = os.path.join(folder.name, mode)
            run = in_front(mode, GROUPDNN_LOG="error:" + log)
            expect_same(alone("all"), run)
            # Where mode verify finds a difference, it says so here, before its table.
            text = open(log).read() if os.path.exists(log) else ""
            expect("verify: " not in text and ("both" in text if mode == "verify" else not text), text)
            executions = [line.split()[0] for line in run.executions]
            expect(executions == [line.split()[0] for line in alone("all").executions])
        check.__name__ = "mode %s changes nothing" % mode
        test(check)

    for mode in ("off", "observe", "verify"):
        forwarding(mode)

    def taking(mode, takes):
        """Statuses, texts and errors are the same; results are right, though rounded in another order."""
        def check():
            run = in_front(mode)
            expect_same(alone("all"), run, grouped)
            expect(run.summary == alone("all").summary)
            saved = len(alone("all").executions) - len(run.executions)
            expect(saved >= takes, "%d calls were taken over" % saved)
        check.__name__ = "mode %s takes over" % mode if takes else "mode %s" % mode
        test(check)

    taking("on", 0)
    taking("force", 300)

    if not options.no_preload:
        @test
        def preloaded_in_front_of_the_double():
            run = Run("all", [double], LD_PRELOAD=options.shim, GROUPDNN_MODE="force", GROUPDNN_CUDNN=double)
            expect_same(alone("all"), run, grouped)
            expect(len(run.executions) < len(alone("all").executions))

    @test
    def faults_of_cudnn_reach_the_program():
        faults = "cudnnConvolutionForward:3:5003,cudnnConvolutionBackwardFilter:9"
        expect_same(alone("all", GDNN_DOUBLE_FAIL=faults), in_front("off", GDNN_DOUBLE_FAIL=faults))

    @test
    def what_cudnn_does_not_tell_is_forwarded():
        for function in ("cudnnGetStream", "cudnnGetConvolutionForwardWorkspaceSize"):
            # Only the drop-in asks this often between two calls of the client.
            run = in_front("force", expected=(0, 1), GDNN_DOUBLE_FAIL=function + ":40:4000")
            expect(run.summary.endswith(" 0 wrong results"), function, run.summary)


def main():
    print("1..%d" % len(tests))
    failed = 0
    for number, function in enumerate(tests, 1):
        words = function.__name__.replace("_", " ")
        try:
            function()
            print("ok %d %s" % (number, words), flush=True)
        except Exception:
            failed += 1
            print("not ok %d %s" % (number, words))
            print("\n".join("# " + line for line in traceback.format_exc().splitlines()), flush=True)
    return 1 if failed else 0


sys.exit(main())
