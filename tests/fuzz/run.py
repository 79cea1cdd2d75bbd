"""A short run of a fuzzer, the same each time. Arguments: the fuzzer, the folder of its corpus, how many inputs; and
what it says where it must find something, if it can be made to (GDNN_FUZZ_LIES).

What the fuzzer counts must show that it gets to what it is there for."""

import os
import re
import subprocess
import sys
import tempfile


def fuzz(program, corpus, runs, **more):
    with tempfile.TemporaryDirectory(prefix="groupdnn_fuzz_") as folder:
        env = {name: value for name, value in os.environ.items() if not name.startswith("GROUPDNN_")}
        env.update(more)
        done = subprocess.run(
            [program, "-seed=1", "-runs=" + runs, "-artifact_prefix=" + folder + "/", folder, corpus],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, text=True, errors="replace", check=False)
    counts = dict((name, int(number)) for line in done.stdout.splitlines()[-1:]
                  for name, number in re.findall(r"([a-z ]*[a-z]) (\d+)", line))
    return done, counts


def report(number, right, what, done):
    print("%s %d %s" % ("ok" if right else "not ok", number, what))
    for line in done.stdout.splitlines()[-1 if right else -60:]:
        print("# " + line)
    return right


def main():
    program, corpus, runs, *finds = sys.argv[1:]
    print("1..%d" % (1 + len(finds)))
    done, counts = fuzz(program, corpus, runs)
    right = report(1, done.returncode == 0 and counts and all(counts.values()), runs + " inputs", done)
    for text in finds:
        done, _ = fuzz(program, corpus, runs, GDNN_FUZZ_LIES="1")
        right &= report(2, done.returncode != 0 and text in done.stdout, "a fault is found", done)
    sys.exit(not right)


main()
