"""Runs the clients on NVIDIA's cudnn-frontend on a double of cuDNN that has NVIDIA's graphs, alone and behind the drop-in:
results, recomputed here; who made them; lists that are longer; plans that are stored. TAP. Options: those of graph_runs.py."""

import os
import re
import subprocess
import sys

import graph_facts
import graph_runs
from graph_runs import FILTERS, PROBLEMS, clients, expect, options

PLAN = re.compile(r"^built:.* plan=(\S+) workspace=\d+ json=({.*}) \"\"$", re.M)
STORED = re.compile(r"^stored=({.*})$", re.M)
CUDNN_FRONTENDS_TRIALS = "ran all:"


class Run(graph_runs.Run):
    def check_counts(self, mode):
        """Trials are not seen one by one, and the last line says which plan was the fastest."""
        self.tags = PLAN.findall(self.out)
        if CUDNN_FRONTENDS_TRIALS not in self.out:
            super().check_counts(mode)
            return
        self.out = self.out[:self.out.index(CUDNN_FRONTENDS_TRIALS)]
        self.tags.pop()
        counts = re.search(r" (\d+) by groupdnn, (\d+) by cudnn, (\d+) by both", self.err)
        expect(bool(counts) == (mode not in (None, "off")), self.words, self.err)
        self.ours, cudnns, self.both = map(int, counts.groups()) if counts else (0, len(self.reached), 0)
        expect(cudnns + self.both == len(self.reached) and (mode in ("on", "force") or not self.ours) and
               (mode == "verify" or not self.both), self.words, self.err, len(self.reached))


class Job(graph_runs.Job):
    Run = Run


def problems():
    with open(options.problems) as file:
        return [line.strip() for line in file if line.strip() and line[0] != "#"]


def results_in_every_mode():
    graph_runs.check_jobs(problems(), 25, 20, Job)


def deviceless(job, library, **env):
    """Standard output, without the double and its device."""
    env["LD_LIBRARY_PATH"] = os.path.dirname(library)
    done = subprocess.run([clients[job.client], job.problem] + job.flags, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=200, env=graph_runs.clean_environment(**env))
    expect(done.returncode in (0, 1) and not done.stderr, job.line, done.returncode, done.stderr)
    return done.stdout


def deviceless_plans_are_of_the_problem():
    """And the drop-in changes none, nor their number."""
    met = 0
    for line in problems():
        job = Job(line)
        alone = deviceless(job, options.double)
        given = graph_facts.read_text(job.problem, {"fe0": "first", "fe1": "last"}[job.client])
        for _, text in PLAN.findall(alone):
            met += 1
            wrong = graph_facts.differences(given, graph_facts.read_plan(text))
            expect(not wrong, line, *wrong)
        behind = deviceless(job, options.shim, GROUPDNN_CUDNN=options.double, GROUPDNN_MODE="force")
        expect(behind == alone, line, *graph_runs.first_difference(alone, behind))
    expect(met > 80, "%d plans" % met)


def lists_are_longer_at_the_front():
    """By one plan with the engine and knobs of the first, which is ours; the second is cuDNN's. None is lost."""
    for client in clients:
        for problem in PROBLEMS:
            job = Job(client + " --benchmark " + problem)
            alone, behind = ([tag for tag, _ in job.run(mode).tags] for mode in (None, "force"))
            expect(behind[:2] == alone[:1] * 2, job.line, alone, behind)
            expect(len(behind) > len(alone) and set(behind) == set(alone), job.line, alone, behind)
            job.flags = []
            for number in range(2):
                run = job.run("force", ("--plan", str(number)))
                job.check_result(run)
                expect([tag for tag, _ in run.tags] == alone[:1], run.words, run.tags, alone)
                expect(bool(run.ours) == (number == 0), run.words, run.err)


def first_of_every_filter_is_ours():
    for client in clients:
        for problem in PROBLEMS:
            job = Job(client + " " + problem)
            for words in FILTERS:
                alone, run = job.run(flags=words), job.run("force", words)
                expect(run.plans == alone.plans and bool(run.ours) == bool(alone.plans), run.words, run.err)
                if alone.plans:
                    job.check_result(run)
                    if words:
                        expect({"no-tensor-core": 0, "deterministic": 4}.get(words[1]) not in run.notes(), run.words)


def stored_plans_are_restored():
    """In another process. cudnn-frontend's version 1 stores more than cuDNN's text."""
    whose = set()
    for client in clients:
        for problem in PROBLEMS:
            job = Job(client + " " + problem)
            for mode in (None, "force"):
                run = Job(client + " --benchmark " + problem).run(mode)
                texts = STORED.findall(run.out) or [text for _, text in run.tags]
                expect(len(texts) == len(run.tags) >= 3, run.words, len(texts), len(run.tags))
                for (tag, _), text in list(zip(run.tags, texts))[:3]:
                    again = job.run(mode, ("--restore", text))
                    # A new plan's name lacks that of its graph; -1 is a knob's that was not chosen.
                    got, wanted = (re.sub(r"^.*?(?=eng\d)|_k\d+=-1", "", each) for each in (again.ran[0][0], tag))
                    expect(again.executions == 1 and got == wanted, again.words, again.ran, tag)
                    job.check_result(again)
                    whose.add((client, mode, bool(again.ours)))
    expect(len(whose) == 3 * len(clients), *whose)


def scales_are_refused_by_version_1():
    for words in ("alpha=2", "beta=1", "z=1 alpha2=0.5"):
        run = Job("fe1 %s %s" % (PROBLEMS[0], words)).run()
        expect(run.code == 1 and run.plans == 0 and "alpha and alpha2 must be 1" in run.out, run.words, run.out)


sys.exit(graph_runs.main([("results, and who made them", results_in_every_mode),
                          ("deviceless plans are of the problem", deviceless_plans_are_of_the_problem),
                          ("lists are longer at the front", lists_are_longer_at_the_front),
                          ("the first plan that passes a filter is ours", first_of_every_filter_is_ours),
                          ("stored plans are restored", stored_plans_are_restored),
                          ("scales are refused by version 1", scales_are_refused_by_version_1)]))
