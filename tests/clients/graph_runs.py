"""Has the clients of the graph interface execute on a double of cuDNN that has NVIDIA's graphs, alone and behind the
drop-in: results, recomputed here; who made them; lists, plans that are rebuilt and restored, failures. TAP.

    graph_runs.py results|lists --client NAME FILE... --double FILE --driver FILE --shim FILE --tool FILE
                  --shapes FOLDER --problems FILE [--every-mode]"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
import graph_cut
import graph_lists
import oracle

parser = argparse.ArgumentParser()
parser.add_argument("what", choices=("results", "lists"))
parser.add_argument("--client", nargs=2, action="append", required=True, metavar=("NAME", "FILE"))
for name in ("double", "driver", "shim", "tool"):
    parser.add_argument("--" + name, required=True, type=os.path.abspath)
parser.add_argument("--shapes", required=True, help="folder of problems")
parser.add_argument("--problems", required=True, help="more of them, with client and options")
parser.add_argument("--every-mode", action="store_true", help="each problem in all modes, not in two of them")
options = parser.parse_args()
clients = {name: os.path.abspath(file) for name, file in options.client}
folder = tempfile.TemporaryDirectory(prefix="groupdnn_runs_")

MODES = ("off", "on", "observe", "verify")  # beside force
SHAPE_STEP = 11  # one of so many lines of the shapes
TYPES = {"f16": ("<f2", 2.0 ** -11, 2e-6), "bf16": ("<u2", 2.0 ** -8, 2e-6), "f32": ("<f4", 2.0 ** -24, 2e-6),
         "f64": ("<f8", 2.0 ** -53, 1e-14)}
TF32 = 2.0 ** -10
TENSOR_CORE = 0
ROLES = {"fwd": ("x", "w", "y"), "bwd_data": ("dx", "w", "dy"), "bwd_filter": ("x", "dw", "dy")}
WRITTEN = {"fwd": 2, "bwd_data": 0, "bwd_filter": 1}


def expect(condition, *facts):
    if not condition:
        raise AssertionError("\n".join(str(fact) for fact in facts))


def clean_environment(**env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GROUPDNN_", "GDNN_", "LD_"))}
    clean.update(env)
    return clean


class Run:
    """A client's run: output, results, and who executed plans how often."""

    def __init__(self, client, words, mode=None, **env):
        self.dump = tempfile.mkdtemp(dir=folder.name)
        log = os.path.join(self.dump, "log")
        libraries = [options.driver]
        if mode:
            env.update(GROUPDNN_CUDNN=options.double, GROUPDNN_MODE=mode, GROUPDNN_STATS="1")
        libraries.append(options.shim if mode else options.double)
        env.update(LD_LIBRARY_PATH=":".join(map(os.path.dirname, libraries)), GDNN_DOUBLE_LOG=log)
        self.words = " ".join([client] + words + ["in mode", str(mode)])
        done = subprocess.run([clients[client], "--dump", self.dump] + words, env=clean_environment(**env),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200)
        # NVIDIA's texts have addresses.
        self.code, self.out = done.returncode, re.sub(r"\b0x[0-9a-f]+\b", "0x", done.stdout)
        # NVIDIA's engines miss what the double of the driver lacks, and say so.
        self.err = "\n".join(line for line in done.stderr.splitlines() if "Could not load symbol " not in line)
        expect(self.code in (0, 1), self.words, "exit status %d" % self.code, self.err, self.out[-500:])
        last = re.search(r"(\d+) plans, (\d+) executions, (\d+) wrong$", self.out.strip())
        expect(last, self.words, self.out[-500:], self.err)
        self.plans, self.executions, wrong = map(int, last.groups())
        self.ran = re.findall(r"^ran (\S+): (\d+) (.*)$", self.out, flags=re.M)
        expect(wrong == 0 and len(self.ran) == self.executions, self.words, *self.ran)
        self.reached = []
        if os.path.exists(log):
            with open(log) as file:
                self.reached = [line for line in file if line.startswith("cudnnBackendExecute ")]
        self.check_counts(mode)

    def check_counts(self, mode):
        """The drop-in's statistics say what the double saw."""
        self.ours = self.executions - len(self.reached)
        counts = re.search(r" (\d+) by groupdnn, (\d+) by cudnn, (\d+) by both", self.err)
        if mode in (None, "off") or self.executions == 0:
            expect(not counts and self.ours == 0 and (mode or not self.err), self.words, self.err)
            return
        expect(counts, self.words, self.err)
        ours, cudnns, self.both = map(int, counts.groups())
        expect((ours, cudnns + self.both) == (self.ours, len(self.reached)), self.words, self.err, *self.reached)
        expect(mode in ("on", "force") or ours == 0, self.words, self.err)
        expect(mode == "verify" or self.both == 0, self.words, self.err)

    def notes(self):
        """Numerical notes of the plan that was executed last."""
        found, notes = {}, set()
        for note, tag in re.findall(r" note=(\d+)| plan=(\S+) workspace", self.out):
            if tag:
                found[tag], notes = notes, set()
            else:
                notes.add(int(note))
        return found[self.ran[-1][0]]

    def refusals(self):
        """Calls that failed, without the numbers of their descriptors."""
        return set(re.findall(r"^\d+ (cudnn\w+ \(\w+)(?:#\d+)?([^:]*\): [1-9]\d*) ", self.out, flags=re.M))

    def file(self, name):
        return oracle.read_npy(os.path.join(self.dump, name + ".npy"))

    def bytes(self, name):
        with open(os.path.join(self.dump, name), "rb") as file:
            return file.read()


class Job:
    """A client, its options, and a problem."""
    Run = Run

    def __init__(self, line):
        self.line = line
        self.client, *words = line.split()
        self.flags = [word for word in words if "=" not in word]
        self.problem = " ".join(word for word in words if "=" in word)
        self.facts = oracle.parse(self.problem)
        self.own = None

    def run(self, mode=None, flags=(), **env):
        return self.Run(self.client, [self.problem] + self.flags + list(flags), mode, **env)

    def given(self):
        return " ".join(word for word in self.problem.split() if not word.startswith("dir="))

    def taken(self):
        """Whether groupdnn says that it would, in mode force."""
        done = subprocess.run([options.tool, "explain", "--json", "-", "dir=%s %s" % (self.facts["dir"], self.given())],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True,
                              env=clean_environment(GROUPDNN_MODE="force"))
        return json.loads(done.stdout.splitlines()[0])["route"] == "groupdnn"

    def check_result(self, run):
        """Files, and the result, which is computed once from the files of one run: others must have the same."""
        p = self.facts
        descr, unit, sums = TYPES[p["dtype"]]
        names = list(ROLES[p["dir"]])
        written = names[WRITTEN[p["dir"]]]
        roles = dict(zip(names, "xwy"))
        inputs = [name for name in names if name != written]
        inputs += [written + "0"] * bool(p["beta"]) + ["z"] * p["z"] + ["bias"] * p["bias"]
        files = sorted([name + ".npy" for name in inputs + [written, "ref"]] + ["problem.txt"])
        found = sorted(set(os.listdir(run.dump)) - {"log"})
        expect(found == files, run.words, found, files)
        given = [run.bytes(name + ".npy") for name in inputs]
        if not self.own:
            values = {name: run.file(name)[2] for name in inputs}
            for name in inputs:
                shape, kind, _ = run.file(name)
                role = {"z": "y"}.get(name, roles.get(name.rstrip("0")))
                wanted = [p["k"]] if name == "bias" else oracle.shapes(p)[role]
                expect(list(shape) == wanted and kind == descr, run.words, name, shape, kind)
            self.own = given, oracle.convolve(p, *(values.get(name) for name in names), values.get(written + "0"),
                                              values.get("z"), values.get("bias"))
        expect(given == self.own[0], run.words, "other inputs than before")
        shape, kind, got = run.file(written)
        expect(list(shape) == oracle.shapes(p)[roles[written]] and kind == descr, run.words, shape, kind)
        scale = max(1e-30, max(abs(v) for v in self.own[1]))
        if p["dtype"] == "f32" and TENSOR_CORE in run.notes():
            sums = TF32
        for i, (a, b) in enumerate(zip(self.own[1], got)):
            expect(abs(a - b) <= unit * abs(a) + sums * scale, run.words,
                   "%s[%d] is %r, the oracle says %r" % (written, i, b, a))


class Count:
    """What must have been met: a test of nothing would pass."""
    def __init__(self):
        self.jobs = self.plans = self.taken = 0


def check_job(job, modes, count):
    count.jobs += 1
    alone = job.run()
    if not alone.plans:
        for mode in modes:
            expect(not job.run(mode).plans, job.line, "a plan behind the drop-in alone", mode)
        return
    count.plans += 1
    job.check_result(alone)
    taken = job.taken()
    count.taken += taken
    for mode in modes:
        run = job.run(mode)
        job.check_result(run)
        more = run.refusals() - alone.refusals()
        expect(not more, run.words, "refused only behind the drop-in:", *more)
        if mode in ("off", "observe"):
            expect(run.out == alone.out, run.words, *first_difference(alone.out, run.out))
        elif mode == "verify":
            expect(bool(run.both) == taken, run.words, run.err)
        elif mode == "force":
            expect(bool(run.ours) == taken, run.words, run.err)
            check_plans(job, alone, run, taken)


def check_plans(job, alone, run, taken):
    """Which plans there were, and how many executions were groupdnn's, of clients that try all."""
    trials = {"xla": 1, "pytorch --benchmark": 2}.get(" ".join([job.client] + job.flags[:1]))
    if not trials:
        return
    change = graph_lists.changed if taken else lambda configs: [(config, False) for config in configs]
    plans = [(config.tag, ours) for _, configs in graph_lists.lists(alone.out)
             for config, ours in change(configs) if config.kept]
    got = [config.tag for _, configs in graph_lists.lists(run.out) for config in configs if config.kept]
    expect(got == [tag for tag, _ in plans], run.words, got, plans)
    plans = [(tag, ours) for tag, ours in plans if tag]
    if job.client == "xla":  # keeps the first of equals
        plans = [(tag, ours) for i, (tag, ours) in enumerate(plans) if tag not in [other for other, _ in plans[:i]]]
    wanted = trials * sum(ours for _, ours in plans) + plans[0][1]
    expect(run.ours == wanted, run.words, "%d executions by groupdnn instead of %d" % (run.ours, wanted), plans)


def first_difference(one, other):
    for a, b in zip(one.splitlines(), other.splitlines()):
        if a != b:
            return [a[:300], b[:300]]
    return ["one is longer"]


def check_jobs(lines, plans, taken, kind=Job):
    """Every job is checked, then all that is wrong is told."""
    wrong, count = [], Count()
    for number, job in enumerate(map(kind, lines)):
        modes = MODES if options.every_mode else (MODES[number % len(MODES)],)
        try:
            check_job(job, modes + ("force",), count)
        except AssertionError as error:
            wrong.append("%s:\n  %s" % (job.line, str(error).replace("\n", "\n  ")[:1500]))
    expect(not wrong, "%d of %d:" % (len(wrong), count.jobs), *wrong)
    expect(count.plans >= plans and count.taken >= taken,
           "%d problems, %d with a plan, %d taken" % (count.jobs, count.plans, count.taken))


# What groupdnn takes, for tests of which plans it takes. NVIDIA has several lists of engines for them.
PROBLEMS = ("n=2 c=16 in=10x10 k=16 filter=3x3 pad=1 groups=4 dtype=f16 layout=nhwc",
            "n=2 c=16 in=10x10 k=16 filter=3x3 pad=1 groups=4 dtype=f32 layout=nchw dir=bwd_filter",
            "n=2 c=32 in=9x9 k=32 filter=3x3 pad=1 groups=32 dtype=bf16 layout=nhwc dir=bwd_data")
FILTERS = ((), ("--filter", "no-tensor-core"), ("--filter", "deterministic"),
           ("--filter", "no-tensor-core,deterministic"))


def expected(job, *flags):
    """Plans, in order, that the drop-in lets the client have: engine and knobs, and whether it is groupdnn's."""
    every = job.run(flags=("--benchmark",) + flags)
    return [(config.tag, ours) for _, configs in graph_lists.lists(every.out)
            for config, ours in graph_lists.changed(configs) if config.kept]


def lists_are_by_the_rule():
    """Each plan of a list, in a process of its own."""
    several = 0
    for client in ("pytorch", "xla"):
        for problem in PROBLEMS:
            job = Job(client + " " + problem)
            plans = expected(job)
            several += sum(ours for _, ours in plans) > 2
            for number, (tag, ours) in enumerate(plans):
                run = job.run("force", ("--plan", str(number)))
                got = run.ran[0][0] if run.ran else None
                expect(got == tag and (not tag or bool(run.ours) == ours), run.words, "got %s, by groupdnn: %s" %
                       (got, bool(run.ours)), "wanted", *plans)
            run = job.run("force", ("--plan", str(len(plans))))
            expect(run.plans == 0, run.words, "one plan more than", *plans)
    expect(several, "no list has a second plan of groupdnn's")


def first_of_every_filter_is_ours():
    met = set()
    for client in clients:
        for problem in PROBLEMS:
            job = Job(client + " " + problem)
            for words in FILTERS:
                alone, run = job.run(flags=words), job.run("force", words)
                expect(run.plans >= alone.plans, run.words, alone.plans, run.plans)
                # xla tries every plan, then executes the first; the others execute the first alone.
                expect(bool(run.ours) == bool(alone.plans), run.words, run.err)
                expect(not run.ran or client == "xla" or run.ours == run.executions == 1, run.words, run.err)
                met.add((words, bool(run.ran)))
                if words and alone.ran:
                    expect({"no-tensor-core": 0, "deterministic": 4}.get(words[1]) not in alone.notes(), alone.words)
    expect(all((words, True) in met for words in FILTERS), met)


def rebuilt_and_restored_plans_are_ours_where_the_listed_ones_are():
    """Without heuristics; the lists B, A and FALLBACK decide, in that order."""
    decided = set()
    for problem in PROBLEMS[:2]:
        job = Job("xla " + problem)
        alone = job.run()
        ours = {}
        for _, configs in graph_lists.lists(alone.out):
            marks = graph_lists.marked([config.notes for config in configs])
            for config, mark in zip(configs, marks):
                ours.setdefault(config.tag, mark)
        texts = dict(zip(re.findall(r" plan=(\S+) workspace", alone.out),
                         re.findall(r' json=({.*}) "[^"]*"$', alone.out, flags=re.M)))
        expect(len(texts) >= 3, alone.out[-300:])
        for tag, text in list(texts.items()):
            for words in (("--rebuild", tag), ("--restore", text)):
                run = job.run("force", words)
                # -1 is what a plan's text has for a knob that was not chosen.
                got, wanted = (re.sub(r"_k\d+=-1", "", each) for each in (run.ran[0][0], tag))
                expect(run.executions == 1 and got == wanted, run.words, run.ran, run.err)
                expect(bool(run.ours) == ours[tag], words[0], tag, "by groupdnn: %d" % run.ours, run.err)
                job.check_result(run)
                decided.add((words[0], ours[tag]))
    expect(len(decided) == 4, decided)


def a_failed_execution_means_the_next_plan():
    job = Job("pytorch " + PROBLEMS[0])
    for mode, flags in ((None, ()), ("off", ()), ("force", ("--plan", "1")), ("verify", ())):
        run = job.run(mode, flags, GDNN_DOUBLE_FAIL="cudnnBackendExecute:1:5000")
        first = run.ran[0]
        expect(first[1] == "5000" and first[2] == "untouched=ok", run.words, *run.ran)
        if flags:
            expect(run.code == 1 and len(run.ran) == 1, run.words, *run.ran)
        else:
            expect(run.code == 0 and len(run.ran) == 2 and run.ran[1][1] == "0", run.words, *run.ran)
            job.check_result(run)


def what_cannot_be_run_is_said():
    folders = {name: os.path.dirname(getattr(options, name)) for name in ("double", "driver")}
    for path, words, code, piece in (
            (("double",), ["--run"], 3, "no device"),
            (("double", "driver"), ["--run", "--gpu", "h200"], 2, "--gpu"),
            (("double", "driver"), ["--dump", "/dev/null"], 2, "/dev/null"),
            (("double", "driver"), ["--dump"], 2, "--dump")):
        for client in clients:
            done = subprocess.run([clients[client], PROBLEMS[0]] + words, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  env=clean_environment(LD_LIBRARY_PATH=":".join(folders[name] for name in path)))
            expect(done.returncode == code and piece in done.stderr, client, words, done.returncode, done.stderr)


def a_wrong_result_is_seen():
    job = Job("pytorch " + PROBLEMS[0])
    run = job.run()
    job.check_result(run)
    path = os.path.join(run.dump, "y.npy")
    data = bytearray(run.bytes("y.npy"))
    data[-1] ^= 1
    with open(path, "wb") as file:
        file.write(data)
    try:
        job.check_result(run)
    except AssertionError:
        return
    raise AssertionError("not seen")


def tests():
    """Name and function of each."""
    if options.what == "results":
        listed, shapes = graph_cut.listed(options.problems), graph_cut.shapes(options.shapes, SHAPE_STEP)
        return [("list: results, and who made them", lambda: check_jobs(listed, 40, 35)),
                ("shapes: results, and who made them", lambda: check_jobs(shapes, 25, 25)),
                ("what cannot be run is said", what_cannot_be_run_is_said),
                ("a wrong result is seen", a_wrong_result_is_seen)]
    return [("each plan of a list is whose the rule says", lists_are_by_the_rule),
            ("the first plan that passes a filter is ours", first_of_every_filter_is_ours),
            ("rebuilt and restored plans are ours where the listed ones are",
             rebuilt_and_restored_plans_are_ours_where_the_listed_ones_are),
            ("a failed execution means the next plan", a_failed_execution_means_the_next_plan)]


def main(tests):
    print("1..%d" % len(tests))
    failed = 0
    for number, (words, function) in enumerate(tests, 1):
        try:
            function()
            print("ok %d %s" % (number, words), flush=True)
        except Exception:
            failed += 1
            print("not ok %d %s" % (number, words))
            print("\n".join("# " + line for line in traceback.format_exc().splitlines()), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(tests()))
