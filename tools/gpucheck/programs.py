"""Running programs that print JSON lines, until a deadline; and what time there is for what."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time


class Missing(Exception):
    """The machine lacks something."""


def now():
    return time.monotonic()


class Budget:
    """Seconds for everything. Each step gets the share of what is left that its weight has among the steps to come; what it
    leaves over is the others'."""

    def __init__(self, seconds, weights):
        self.begin = now()
        self.end = self.begin + seconds
        self.weights = dict(weights)

    def deadline(self, step):
        left, weight = self.end - now(), sum(self.weights.values())
        return now() + max(0, left) * self.weights.pop(step) / weight

    def used(self):
        return now() - self.begin


class Progress:
    """Says how far the work is: at once on a terminal, else every few seconds."""

    def __init__(self, budget, every=5):
        self.budget, self.every, self.last = budget, every, -every

    def say(self, text):
        print("[%4.0f s] %s" % (self.budget.used(), text), file=sys.stderr, flush=True)
        self.last = self.budget.used()

    def show(self, text):
        if self.budget.used() - self.last >= self.every:
            self.say(text)


class Program:
    """A run of a program. `code` is its exit status, None where it was stopped: at the deadline, or because of `fault`."""

    def __init__(self, command, env, log, text=""):
        self.command, self.env, self.log, self.text = [str(word) for word in command], env, log, text
        self.code = self.fault = None

    def records(self, deadline):
        """The objects that it prints, one a line, as they come. Other lines go to the log."""
        with open(self.log, "ab") as log, tempfile.TemporaryFile() as text:
            log.write(("\n$ %s\n" % " ".join(self.command)).encode())
            log.flush()
            text.write(self.text.encode())
            text.seek(0)
            process = subprocess.Popen(self.command, env=self.env, stderr=log, stdout=subprocess.PIPE, stdin=text)
            try:
                for line in read_lines(process.stdout, deadline):
                    record = parse(line)
                    if record is None:
                        log.write(line + b"\n")
                    else:
                        yield record
                self.code = process.wait(max(0.1, deadline - now()))
            except subprocess.TimeoutExpired:
                pass
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
                process.stdout.close()

    def run(self, deadline):
        """All that it prints."""
        return list(self.records(deadline))


def parse(line):
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def read_lines(stream, deadline):
    """Lines until the end of the stream. Raises TimeoutExpired at the deadline."""
    rest = b""
    while True:
        left = deadline - now()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            raise subprocess.TimeoutExpired("", 0)
        piece = os.read(stream.fileno(), 1 << 16)
        if not piece:
            break
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
    if rest:
        yield rest


def output_of(command, env=None, seconds=30):
    """What a program prints, stripped; None if there is none, it fails, or it takes too long."""
    try:
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=seconds)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
