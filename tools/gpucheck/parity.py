"""Whether the kernels are right: every instance on small problems, and layers with all of their channels and pixels."""

import math
import os
from concurrent.futures import ThreadPoolExecutor

from . import problems
from .programs import Program, now

# Most of the time goes by on the host. A large problem takes up to 2 GiB there.
AT_ONCE = 12
# Elements of x of a large problem; batches are cut to that.
LARGE = 1 << 24

# In turns, so that a few large problems see every type and layout.
KINDS = (("f16", "nhwc"), ("f32", "nchw"), ("bf16", "nhwc"), ("f16", "nchw"), ("f32", "nhwc"))
DIRECTIONS = ("fwd", "bwd_data", "bwd_filter")


# What makes a problem one for instances with a full epilogue; without these it is plain.
EPILOGUE = {"alpha", "beta", "bias", "z", "act"}


def instances(kernels):
    """(kernel, direction, layout, dtype) of all that `groupdnn kernels` lists; each is two, for plain and full epilogues."""
    found = []
    for kernel in kernels:
        layouts = ["nchw", "nhwc"] if kernel["layout"] == "any" else kernel["layout"].split(",")
        for layout in layouts:
            for dtype in kernel["dtypes"].split(","):
                found.append((kernel["name"], kernel["dir"], layout, dtype))
    return found


def workers():
    return max(1, min(AT_ONCE, (os.cpu_count() or 1) * 3 // 4))


def run_all(programs, deadline, report):
    """Runs programs side by side; `report` gets each row. A fault of the device ends a program, for what follows may fail
    for that alone. Returns those that were stopped, or ended badly."""
    bad = []

    def one(program):
        if now() < deadline:
            for record in program.records(deadline):
                if "problem" in record:
                    report(program, record)
                if record.get("reason") == "driver-error":
                    program.fault = record["problem"]
                    break
        if program.code not in (0, 1):
            bad.append(program)

    with ThreadPoolExecutor(workers()) as pool:
        list(pool.map(one, programs))
    return bad


def symbol(name, layout, dtype, plain):
    return "%s_%s_%s%s" % (name, layout, dtype, "_plain" if plain else "")


def is_plain(text):
    return not EPILOGUE & problems.fields(text).keys()


def small(check, deadline, path, kernels):
    """Runs the problems of a file with every instance of every kernel; each must be right at least once, and so must each
    with a full epilogue, where it may be another."""
    wanted, programs = instances(kernels), {}
    for name, direction, layout, dtype in wanted:
        programs.setdefault((name, direction, layout), []).append(dtype)
    for (name, direction, layout), dtypes in programs.items():
        programs[name, direction, layout] = program = Program(
            check.tool("compare", "--kernel", name, "--dir", direction, "--layout", layout, "--dtype", ",".join(dtypes),
                       "--json", "-", path), check.env, check.log)
        program.name, program.layout = name, layout
    right = set()

    def report(program, row):
        if row["route"] != "groupdnn":
            return
        text = row["problem"]
        instance = symbol(program.name, program.layout, problems.fields(text)["dtype"], is_plain(text))
        check.rows("parity", {**row, "instance": instance})
        if row["pass"]:
            right.add(instance)
        check.progress.show("parity: %d of %d instances" % (len(right), 2 * len(wanted)))

    stopped = {(program.name, program.layout): program for program in
               run_all(list(programs.values()), deadline, report)}
    for program in stopped.values():
        if program.fault:
            check.fail("the driver failed in %s_%s: %s" % (program.name, program.layout, program.fault))
        elif program.code is None:
            check.not_run("all of parity of %s_%s" % (program.name, program.layout))
        else:
            check.fail("compare ended with status %s at %s_%s" % (program.code, program.name, program.layout))
    for name, _, layout, dtype in wanted:
        for missing in {symbol(name, layout, dtype, plain) for plain in (True, False)} - right:
            check.fail("nothing shows that %s is right%s" % (missing, ": it was not run" if (name, layout) in stopped else ""))


def cut(layer):
    """The layer with no more images than LARGE permits."""
    given = problems.fields(layer)
    image = int(given["c"]) * math.prod(int(part) for part in given["in"].split("x"))
    return problems.changed(layer, n=max(1, min(int(given["n"]), LARGE // image)))


def large(check, deadline, layers):
    """Runs layers, each in one type and layout, beside the float64 kernels of the same device."""
    texts = []
    for i, layer in enumerate(map(cut, layers)):
        dtype, layout = KINDS[i % len(KINDS)]
        for direction in DIRECTIONS:
            texts.append(problems.completed(layer, dir=direction, dtype=dtype, layout=layout))
    texts = list(dict.fromkeys(texts))
    programs, count, done = [], workers(), []
    for i in range(min(count, len(texts))):
        part = texts[i::count]
        program = Program(check.tool("compare", "--reference", "device", "--no-scale", "--json", "-", *part), check.env,
                          check.log)
        program.left = part
        programs.append(program)

    def report(program, row):
        done.append(program.left.pop(0))  # a row for each, in their order
        check.rows("parity", {**row, "instance": None})
        check.progress.show("large problems: %d of %d" % (len(done), len(texts)))

    for program in run_all(programs, deadline, report):
        if program.fault:
            check.fail("the driver failed: " + program.fault)
        elif program.code is not None:
            check.fail("compare ended with status %s at %s" % (program.code, "".join(program.left[:1])))
    for program in programs:
        for text in program.left:
            check.not_run("parity of " + text)
