"""What --dump writes is what was computed, and it is right: random problems, recomputed here."""

import math
import os
import random

import oracle
import tool
from tool import SMALL, compare, expect, expect_run, place, test, write

SEED = int(os.environ.get("GDNN_TEST_SEED", "1"))
# How a type is stored, what rounding to it costs at most, and what its sums may be off, relative to the largest.
TYPES = {"f16": ("<f2", 2.0 ** -11, 2e-6), "bf16": ("<u2", 2.0 ** -8, 2e-6), "f32": ("<f4", 2.0 ** -24, 2e-6),
         "f64": ("<f8", 2.0 ** -53, 1e-14)}
ROLES = {"fwd": ("x", "w", "y"), "bwd_data": ("dx", "w", "dy"), "bwd_filter": ("x", "dw", "dy")}
WRITTEN = {"fwd": "y", "bwd_data": "dx", "bwd_filter": "dw"}


def random_problem(rng):
    spatial, groups = rng.randint(1, 3), rng.choice([1, 2, 3, 5])
    pick = lambda low, high: "x".join(str(rng.randint(low, high)) for _ in range(spatial))
    direction = rng.choice(list(ROLES))
    text = ("dir=%s dtype=%s layout=%s n=%d c=%d k=%d groups=%d in=%s filter=%s pad=%s pad_after=%s stride=%s "
            "dilation=%s") % (
        direction, rng.choice(list(TYPES)), rng.choice(["nchw", "nhwc"]), rng.randint(1, 3),
        groups * rng.randint(1, 3), groups * rng.randint(1, 3), groups, pick(5, 9 if spatial < 3 else 6), pick(1, 3),
        pick(0, 2), pick(0, 2), pick(1, 3), pick(1, 2))
    text += " mode=%s" % rng.choice(["xcorr", "conv"])
    if rng.random() < 0.5:
        text += " alpha=%g beta=%g" % (rng.choice([0.5, -1.5, 3]), rng.choice([0, 0.25, -2]))
    if direction == "fwd" and rng.random() < 0.5:
        text += " bias=%d act=%s" % (rng.randint(0, 1), rng.choice(["none", "relu"]))
        text += rng.choice(["", " z=0", " z=1 alpha2=1", " z=1 alpha2=-0.5"])
    return text


def check(folder, row):
    """Files, shapes and types as promised; ref and the result against the oracle; err_l2 recomputed."""
    p = oracle.parse(row["problem"])
    descr, unit, sums = TYPES[p["dtype"]]
    x, w, y = ROLES[p["dir"]]
    written = WRITTEN[p["dir"]]
    names = {x: "x", w: "w", y: "y", "ref": "xwy"[[x, w, y].index(written)]}
    if p["beta"]:
        names[written + "0"] = names["ref"]
    if p["z"]:
        names["z"] = "y"
    wanted = sorted([name + ".npy" for name in names] + (["bias.npy"] if p["bias"] else []) + ["problem.txt"])
    expect(sorted(os.listdir(folder)) == wanted, os.listdir(folder), wanted)
    with open(os.path.join(folder, "problem.txt")) as file:
        lines = file.read().splitlines()
    expect(lines[0] == row["problem"], lines, row)
    expect(lines[1:] == (["# scaled from " + row["scaled_from"]] if row["scaled_from"] else []), lines, row)
    values = {}
    for name, role in names.items():
        shape, kind, values[name] = oracle.read_npy(os.path.join(folder, name + ".npy"))
        expect(list(shape) == oracle.shapes(p)[role], name, shape, p)
        expect(kind == ("<f8" if name == "ref" else descr), name, kind)
    bias = oracle.read_npy(os.path.join(folder, "bias.npy"))[2] if p["bias"] else None
    own = oracle.convolve(p, values[x], values[w], values[y], values.get(written + "0"), values.get("z"), bias)

    scale = max(1e-30, max(abs(v) for v in own))
    got, ref = values[written], values["ref"]
    for i, (a, b, c) in enumerate(zip(own, ref, got)):
        expect(abs(a - b) <= 1e-12 * scale, "ref[%d] is %r, the oracle says %r" % (i, b, a), row["problem"])
        expect(abs(a - c) <= unit * abs(a) + sums * scale, "%s[%d] is %r, the oracle says %r" % (written, i, c, a),
               row["problem"])
    norm = math.sqrt(sum(v * v for v in ref))
    error = math.sqrt(sum((a - b) ** 2 for a, b in zip(got, ref)))
    if norm > 0:
        expect(abs(error / norm - row["err_l2"]) <= 1e-5 * row["err_l2"] + 1e-18, error / norm, row)


@test
def random_problems_recomputed():
    rng = random.Random(SEED)
    print("# GDNN_TEST_SEED=%d" % SEED)
    texts = [random_problem(rng) for _ in range(60)]
    folder = place("rows")
    result = compare("--seed", str(SEED), "--dump", folder, *texts)
    expect_run(result, 0)
    rows, summary = result.records()
    expect(summary["passed"] == len(texts), summary)
    expect(len(os.listdir(folder)) == len(texts), os.listdir(folder))
    for number, row in enumerate(rows, 1):
        expect(row["dump"] == os.path.join(folder, str(number)), row)
        check(row["dump"], row)


@test
def one_row_goes_into_the_folder_itself():
    folder = place("one")
    result = compare("--dump", folder, "--dtype", "f32", "--dir", "bwd_data", SMALL)
    expect_run(result, 0)
    row = result.records()[0][0]
    expect(row["dump"] == folder, row)
    check(folder, row)
    again = place("again")
    compare("--dump", again, "--dtype", "f32", "--dir", "bwd_data", "--layout", "nhwc", SMALL)
    for name in ("w", "dy", "ref"): # logical order and the same data, whatever the layout
        one, two = (oracle.read_npy(os.path.join(place, name + ".npy")) for place in (folder, again))
        expect(one == two, name)


@test
def the_problem_of_a_folder_runs_again():
    folder, again = place("first"), place("second")
    large = "name=big n=64 c=8 in=30x30 k=8 filter=3x3 groups=4 dir=bwd_filter dtype=bf16 layout=nhwc"
    first = compare("--dump", folder, large)
    expect_run(first, 0)
    expect(first.records()[0][0]["scaled_from"] is not None, first.out)
    with open(os.path.join(folder, "problem.txt")) as file:
        lines = file.read().splitlines()
    expect(lines[1].startswith("# scaled from name=big ") and "n=64" in lines[1].split(), lines)
    expect_run(compare("--dump", again, os.path.join(folder, "problem.txt")), 0)
    for name in ("x", "dy", "dw", "ref"):
        one, two = (oracle.read_npy(os.path.join(place, name + ".npy")) for place in (folder, again))
        expect(one == two, name)


@test
def a_folder_is_made_for_rows_only():
    folder = place("unused")
    expect_run(compare("--dump", folder), 2, "Give files")
    expect_run(compare("--dump", folder, "n=1"), 2, "c is missing")
    expect_run(compare("--dump", folder, write("bad.txt", "n=q\n")), 2, "n=q")
    expect(not os.path.exists(folder), "it was made for nothing")


@test
def a_folder_that_takes_no_files_is_found_out_first():
    result = compare("--dump", "/proc", "--dtype", "f32", SMALL)
    expect_run(result, 2, "--dump /proc: no file can be made in it: ")
    expect(not result.out and "Device:" not in result.err, "rows were run", result.out, result.err)


tool.main()
