"""Runs the clients of the graph interface on NVIDIA's library, alone and behind the drop-in, and compares: every call's
result; each plan's text with the problem that the client was given; what the drop-in traced with both. `face` checks
what needs no cuDNN of NVIDIA's. TAP."""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile
import traceback

from graph_facts import differences, read_plan, read_text

parser = argparse.ArgumentParser()
parser.add_argument("what", choices=("face", "plans"))
parser.add_argument("--client", nargs=2, action="append", required=True, metavar=("NAME", "FILE"))
parser.add_argument("--double", required=True, help="a double of cuDNN, which has no graphs", type=os.path.abspath)
parser.add_argument("--real", help="NVIDIA's library")
parser.add_argument("--shim", help="the drop-in", type=os.path.abspath)
parser.add_argument("--plan-problem", required=True, help="a program that reads plans as the drop-in does",
                    type=os.path.abspath)
parser.add_argument("--shapes", required=True, help="folder of problems")
parser.add_argument("--problems", required=True, help="more of them, with client and options")
options = parser.parse_args()
clients = {name: os.path.abspath(file) for name, file in options.client}
folder = tempfile.TemporaryDirectory(prefix="groupdnn_graphs_")

SHAPE_STEP = 7  # one of so many lines of the shapes
# Of one problem in turn; a line of the shapes may say otherwise.
TURNS = [("pytorch", "dir=fwd dtype=f16 layout=nhwc"), ("xla", "dir=bwd_data dtype=f32 layout=nchw"),
         ("pytorch --benchmark", "dir=bwd_filter dtype=bf16 layout=nhwc"), ("ort", "dir=fwd dtype=f32 layout=nchw"),
         ("xla", "dir=fwd dtype=bf16 layout=nchw"), ("pytorch", "dir=bwd_data dtype=f16 layout=nhwc"),
         ("xla", "dir=bwd_filter dtype=f32 layout=nhwc"), ("pytorch", "dir=fwd dtype=f64 layout=nchw"),
         ("ort", "dir=bwd_data dtype=f16 layout=nchw"), ("pytorch --benchmark", "dir=bwd_filter dtype=f16 layout=nchw"),
         ("xla", "dir=bwd_data dtype=f64 layout=nchw"), ("pytorch", "dir=bwd_filter dtype=f32 layout=nchw")]


def expect(condition, *facts):
    if not condition:
        raise AssertionError("\n".join(str(fact) for fact in facts))


def run(client, words, library, **env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GROUPDNN_", "GDNN_", "LD_"))}
    clean.update(env, LD_LIBRARY_PATH=os.path.dirname(library))
    return subprocess.run([clients[client]] + words, env=clean, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=200)

# Unique ids that the clients give to x, w, y, z and bias.
IDS = {"pytorch": [ord(c) for c in "xwyzb"], "xla": [ord(c) for c in "xwyzb"], "ort": [1, 2, 3, 4, 5]}


class Job:
    """A client, its options, and a problem."""

    def __init__(self, line):
        self.client, *words = line.split()
        first = next(i for i, word in enumerate(words) if "=" in word)
        self.flags, self.problem = words[:first], " ".join(words[first:])
        self.line = line
        self.runs = {}

    def run(self, library, **env):
        """Standard output."""
        done = run(self.client, [self.problem] + self.flags, library, **env)
        expect(done.returncode in (0, 1) and not done.stderr, self.line, done.returncode, done.stderr)
        return done.stdout

    def alone(self):
        if "alone" not in self.runs:
            self.runs["alone"] = self.run(options.real)
        return self.runs["alone"]

    def behind(self):
        """Standard output, and what was traced."""
        if "behind" not in self.runs:
            trace = os.path.join(folder.name, "trace")
            if os.path.exists(trace):
                os.remove(trace)
            output = self.run(options.shim, GROUPDNN_CUDNN=options.real, GROUPDNN_MODE="observe",
                              GROUPDNN_TRACE=trace)
            lines = []
            if os.path.exists(trace):
                with open(trace) as file:
                    lines = file.read().splitlines()
            self.runs["behind"] = output, lines
        return self.runs["behind"]

    def plans(self):
        """Texts of the plans, as NVIDIA's library gives them."""
        return re.findall(r' json=({.*}) "[^"]*"$', self.alone(), flags=re.M)

    def given(self):
        added = "last" if self.client == "ort" else "first"
        return read_text(self.problem, None if "--one-axis" in self.flags else added)


def shape_jobs():
    lines = []
    for path in sorted(glob.glob(os.path.join(options.shapes, "*.txt"))):
        with open(path) as file:
            lines += [line.split("#")[0].strip() for line in file]
    lines = [line for line in lines if line]
    expect(len(lines) >= 400, "only %d shapes" % len(lines))
    for number, line in enumerate(lines[::SHAPE_STEP]):
        words = [word for word in line.split() if not word.startswith(("name=", "count="))]
        if "groups=1" in words:
            continue
        client, turn = TURNS[number % len(TURNS)]
        keys = {word.split("=")[0] for word in words}
        more = [word for word in turn.split() if word.split("=")[0] not in keys and
                not (word.startswith("layout") and "xstrides" in keys)]
        yield Job(" ".join([client] + words + more))


def listed_jobs():
    with open(options.problems) as file:
        return [Job(line.strip()) for line in file if line.strip() and line[0] != "#"]


def check_each(jobs, check):
    """Every job is checked, then all that is wrong is told."""
    wrong = []
    for job in jobs:
        found = check(job)
        if found:
            wrong.append("\n  ".join([job.line] + found[:4]))
    expect(not wrong, "%d of %d:" % (len(wrong), len(jobs)), *wrong)


def first_difference(one, other):
    # Texts of cuDNN's may hold addresses.
    one, other = (re.sub(r"\b0x[0-9a-f]+\b", "0x", text) for text in (one, other))
    for a, b in zip(one.splitlines(), other.splitlines()):
        if a != b:
            return [a[:300], b[:300]]
    return [] if one == other else ["one is longer"]


def check_plans(job):
    return [line for plan in job.plans() for line in differences(job.given(), read_plan(plan))]


def check_texts(job):
    """What the drop-in reads in the plans' texts."""
    plans, given, found = job.plans(), job.given(), []
    done = subprocess.run([options.plan_problem], input="".join(plan + "\n" for plan in plans), stdout=subprocess.PIPE,
                          text=True, timeout=60, check=True)
    lines = done.stdout.splitlines()
    expect(len(lines) == len(plans), job.line, done.stdout)
    x, w, y, z, bias = IDS[job.client]
    ids = [x, w, y, z if given["z"] else 0, bias if given["bias"] else 0]
    for line in lines:
        words = line.split(None, 5)
        if len(words) < 6 or [int(word) for word in words[:5]] != ids:
            found.append("expected the ids %s, found %s" % (ids, line))
        else:
            found += differences(given, read_text(words[5]))
    return found


def check_trace(job):
    lines = job.behind()[1]
    if not job.plans() or job.given()["groups"] == 1:
        return ["should not be traced: " + line for line in lines]
    # A problem in float32 is two: for plans with tensor cores, and for plans without.
    if len({line.replace(" math=tf32", "") for line in lines}) != 1:
        return ["%d lines were traced" % len(lines)] + lines
    traced = read_text(lines[0])
    found = differences(job.given(), traced)
    for plan in job.plans():
        found += differences(read_plan(plan), traced)
    return found + [lines[0]] if found else []


def expect_plans(jobs, least):
    check_each(jobs, check_plans)
    count = sum(bool(job.plans()) for job in jobs)
    expect(count >= least, "only %d of %d problems have a plan" % (count, len(jobs)),
           *(job.line for job in jobs if not job.plans()))


def expect_same_calls(jobs):
    check_each(jobs, lambda job: first_difference(job.alone(), job.behind()[0]))


GROUPED = "n=1 c=2 in=5 k=2 filter=3 groups=2"


def no_graphs_no_plans():
    """The clients say what they need."""
    for name in clients:
        done = run(name, [GROUPED], options.double)
        expect(done.returncode == 3 and "it must be NVIDIA's" in done.stderr, name, done.returncode, done.stderr)


def wrong_command_lines_are_refused():
    for name in clients:
        for words in ([], ["n=1"], ["--plan", "x"], ["--filter", "tensor-core"], ["n=1", "n=1"], ["--gpu"],
                      ["--rebuild", "k2=1"], [GROUPED, "--rebuild", "eng1", "--restore", "{}"], [GROUPED + " acc=f64"],
                      [GROUPED + " math=tf32"]):
            done = run(name, words, options.double)
            expect(done.returncode == 2 and done.stderr and not done.stdout, name, words, done)
    for name in ("pytorch", "ort"):
        for words in (["--rebuild", "eng1"], ["--restore", "{}"]):
            done = run(name, [GROUPED] + words, options.double)
            expect(done.returncode == 2 and words[0] in done.stderr and not done.stdout, name, words, done)


def a_wrong_fact_is_seen():
    job = Job("pytorch n=4 c=64 in=14x10 k=32 filter=3x3 pad=1 groups=8 dtype=f16 layout=nhwc"
              " bias=1 z=1 alpha2=0.5 act=relu")
    plan = read_plan(job.plans()[0])
    expect(not differences(read_text(job.problem), plan), differences(read_text(job.problem), plan))
    for other in ("n=5 c=128 in=14x11 k=64 filter=3x5 pad=1x2 pad_after=1x0 groups=4 dtype=bf16 layout=nchw bias=0 z=0"
                  " alpha2=0.25 act=none stride=2 dilation=2 mode=conv alpha=2 beta=1 dir=bwd_data acc=f64"
                  " xstrides=8960x140x10x1 wstrides=72x9x3x1 ystrides=4480x140x10x1 zstrides=4480x140x10x1").split():
        words = [word for word in job.problem.split() if word.split("=")[0] != other.split("=")[0]]
        expect(differences(read_text(" ".join(words + [other])), plan), other)


def a_stored_tag_and_text_give_the_same_plan():
    """In another process, without the heuristics; with the text, without a graph."""
    for problem in ("n=8 c=32 in=14x14 k=32 filter=3x3 pad=1 groups=8 dtype=f16 layout=nhwc",
                    "n=8 c=32 in=14x14 k=32 filter=3x3 pad=1 groups=32 dtype=f32 dir=bwd_filter"):
        first = Job("xla " + problem)
        tags = re.findall(r" plan=(\S+) workspace", first.alone())
        plans = dict(zip(tags, first.plans()))
        expect(len(plans) >= 3, first.alone()[-300:])
        for tag, plan in list(plans.items())[:5]:
            again = Job("xla " + problem)
            again.flags = ["--rebuild", tag]
            expect(again.plans() == [plan], tag, again.alone()[-1000:])
            expect(not first_difference(again.alone(), again.behind()[0]), tag)
            expect(not check_trace(again), tag, *check_trace(again))
            restored = Job("xla " + problem)
            restored.flags = ["--restore", plan]
            expect(restored.plans() == [plan], tag, restored.alone()[-1000:])
            expect(not first_difference(restored.alone(), restored.behind()[0]), tag)


def filters_hold():
    for name in clients:
        line = name + " --benchmark n=8 c=64 in=14x14 k=64 filter=3x3 pad=1 groups=8 dtype=f32 dir=bwd_filter"
        every = len(Job(line).plans())
        job = Job(line)
        job.flags += ["--filter", "no-tensor-core,deterministic"]
        expect(0 < len(job.plans()) < every, name, every, len(job.plans()))
        notes = re.findall(r" note=(\d+)", job.alone())
        expect(not {"0", "1", "4"} & set(notes), name, notes)


def tests():
    """Name and function of each."""
    if options.what == "face":
        return [("without graphs the clients say what they need", no_graphs_no_plans),
                ("wrong command lines are refused", wrong_command_lines_are_refused)]
    found = []
    for name, jobs, least in (("list", listed_jobs(), 45), ("shapes", list(shape_jobs()), 50)):
        found += [(name + ": plans are of the problem", lambda jobs=jobs, least=least: expect_plans(jobs, least)),
                  (name + ": their texts are read as the problem", lambda jobs=jobs: check_each(jobs, check_texts)),
                  (name + ": the drop-in changes no call", lambda jobs=jobs: expect_same_calls(jobs)),
                  (name + ": traced is the problem and its plans", lambda jobs=jobs: check_each(jobs, check_trace))]
    return found + [("a wrong fact is seen", a_wrong_fact_is_seen),
                    ("a stored tag and a stored text give the same plan", a_stored_tag_and_text_give_the_same_plan),
                    ("filters hold", filters_hold)]


def main():
    if options.what == "plans" and not options.real:
        print("1..0 # SKIP needs NVIDIA's cuDNN, 9.8 or later")
        return 0
    print("1..%d" % len(tests()))
    failed = 0
    for number, (words, function) in enumerate(tests(), 1):
        try:
            function()
            print("ok %d %s" % (number, words), flush=True)
        except Exception:
            failed += 1
            print("not ok %d %s" % (number, words))
            print("\n".join("# " + line for line in traceback.format_exc().splitlines()), flush=True)
    return 1 if failed else 0


sys.exit(main())
