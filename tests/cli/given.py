"""--x, --w, --dy, --z, --bias: the user's own tensors."""

import os
import random
import struct

import oracle
import tool
from tool import compare, expect, expect_run, place, test, write

RNG = random.Random(3)
# A value that every type holds exactly, so that nothing is rounded on the way.
VALUES = [v / 8 for v in range(-16, 17)]


def make(name, shape, descr="<f4"):
    path = place(name)
    values = [RNG.choice(VALUES) for _ in range(oracle.product(shape))]
    oracle.write_npy(path, shape, descr, values)
    return path


def read(folder, name):
    return oracle.read_npy(os.path.join(folder, name + ".npy"))


def row_of(result, count=1):
    expect_run(result, 0)
    rows, _ = result.records()
    expect(len(rows) == count, rows)
    return rows[0] if count == 1 else rows


@test
def sizes_and_groups_come_from_the_shapes():
    x, w = make("x.npy", (2, 6, 9, 7)), make("w.npy", (4, 3, 3, 2))
    folder = place("dump")
    row = row_of(compare("--x", x, "--w", w, "--dump", folder, "stride=2x1 pad=1x0"))
    p = oracle.parse(row["problem"])
    expect((p["n"], p["c"], p["k"], p["groups"], p["in"], p["filter"]) == (2, 6, 4, 2, [9, 7], [3, 2]), row)
    expect(p["dtype"] == "f32" and p["dir"] == "fwd" and row["scaled_from"] is None, row)
    own = oracle.convolve(p, oracle.read_npy(x)[2], oracle.read_npy(w)[2], None, None, None, None)
    expect(read(folder, "ref")[2] == own, "ref")
    expect(read(folder, "y")[2] == own, "y: these numbers are exact in f32")
    expect(read(folder, "x") == oracle.read_npy(x), "x")
    row_of(compare("--x", x, "--w", w)) # no problem at all


@test
def with_dy_every_direction_runs():
    x, w, dy = make("x.npy", (2, 4, 8)), make("w.npy", (6, 2, 3)), make("dy.npy", (2, 6, 6))
    folder = place("three")
    rows = row_of(compare("--x", x, "--w", w, "--dy", dy, "--dump", folder, ""), 3)
    expect([row["dir"] for row in rows] == ["fwd", "bwd_data", "bwd_filter"], rows)
    values = [oracle.read_npy(path)[2] for path in (x, w, dy)]
    for number, (row, name) in enumerate(zip(rows, ("y", "dx", "dw")), 1):
        own = oracle.convolve(oracle.parse(row["problem"]), *values, None, None, None)
        expect(read(os.path.join(folder, str(number)), name)[2] == own, name)
    row = row_of(compare("--x", x, "--dy", dy, "filter=3 groups=2"))
    expect(row["dir"] == "bwd_filter", row)
    row = row_of(compare("--w", w, "--dy", dy, "in=8 groups=2"))
    expect(row["dir"] == "bwd_data", row)
    row = row_of(compare("--x", x, "--w", w, "--dy", dy, "--dir", "bwd_data"))
    expect(row["dir"] == "bwd_data", row)


@test
def dy_is_not_what_y_held_before():
    x, w, dy = make("x.npy", (2, 4, 8)), make("w.npy", (6, 2, 3)), make("dy.npy", (2, 6, 6))
    folder = place("prior")
    row_of(compare("--x", x, "--w", w, "--dy", dy, "--dump", folder, "dir=fwd beta=1"))
    expect(read(folder, "y0")[2] != oracle.read_npy(dy)[2], "y0 is dy")
    expect(not os.path.exists(os.path.join(folder, "dy.npy")), os.listdir(folder))


@test
def types_of_the_files():
    shapes = ((1, 2, 5), (2, 1, 2))
    for descr, dtype in (("<f2", "f16"), ("<f4", "f32"), ("<f8", "f64")):
        x, w = (make("t%d.npy" % i, shape, descr) for i, shape in enumerate(shapes))
        expect(oracle.parse(row_of(compare("--x", x, "--w", w))["problem"])["dtype"] == dtype, dtype)
    x, w = (make("b%d.npy" % i, shape, "<u2") for i, shape in enumerate(shapes))
    expect_run(compare("--x", x, "--w", w), 2, "b0.npy", "dtype=bf16")
    expect(oracle.parse(row_of(compare("--x", x, "--w", w, "dtype=bf16"))["problem"])["dtype"] == "bf16", "bf16")
    row_of(compare("--x", x, "--w", w, "--dtype", "bf16"))
    expect_run(compare("--x", x, "--w", w, "dtype=f32"), 2, "b0.npy", "dtype=bf16")


@test
def values_are_rounded_where_the_type_is_smaller():
    x, w = place("r0.npy"), place("r1.npy")
    oracle.write_npy(x, (1, 1, 2), "<f4", [1 + 2.0 ** -12, 3.0])
    oracle.write_npy(w, (1, 1, 1), "<f4", [1.0])
    folder = place("rounded")
    result = compare("--x", x, "--w", w, "--dump", folder, "dtype=f16")
    expect_run(result, 0, "r0.npy: f32 values are rounded to f16")
    expect(read(folder, "x") == ((1, 1, 2), "<f2", [1.0, 3.0]), read(folder, "x"))
    result = compare("--x", x, "--w", w, "dtype=f64")
    expect_run(result, 0)
    expect("rounded" not in result.err, result.err)


@test
def special_values_arrive():
    x, w = place("s0.npy"), place("s1.npy")
    oracle.write_npy(x, (1, 2, 3), "<f4", [float("inf"), 1.0, 2.0, float("nan"), -1.0, 70000.0])
    oracle.write_npy(w, (2, 1, 1), "<f4", [1.0, 1.0])
    folder = place("special")
    row_of(compare("--x", x, "--w", w, "--dump", folder, "groups=2"))
    y = read(folder, "y")[2]
    expect(y[0] == float("inf") and y[1] == 1 and y[3] != y[3] and y[4] == -1, y)
    # 70000 is infinite in f16
    result = compare("--x", x, "--w", w, "--dump", folder, "dtype=f16")
    row_of(result)
    expect(read(folder, "y")[2][5] == float("inf"), read(folder, "y"))


@test
def bias_and_z():
    x, w, z, bias = (make("f%d.npy" % i, shape) for i, shape in
                     enumerate([(2, 4, 5), (4, 2, 2), (2, 4, 4), (4,)]))
    folder = place("fused")
    row = row_of(compare("--x", x, "--w", w, "--z", z, "--bias", bias, "--dump", folder, "act=relu alpha2=0.5"))
    p = oracle.parse(row["problem"])
    expect(p["z"] == 1 and p["bias"] == 1, row)
    own = oracle.convolve(p, *[oracle.read_npy(path)[2] for path in (x, w)], None, None,
                          *[oracle.read_npy(path)[2] for path in (z, bias)])
    expect(read(folder, "y")[2] == own, "y")
    expect_run(compare("--x", x, "--w", w, "bias=1"), 2, "--bias")
    expect_run(compare("--x", x, "--w", w, "z=1"), 2, "--z")
    expect_run(compare("--x", x, "--w", w, "--bias", z), 2, "f2.npy", "(K,)")
    expect_run(compare("--x", x, "--w", w, "--bias", bias, "bias=0"), 2, "bias=0", "--bias", "f3.npy")
    expect_run(compare("--x", x, "--w", w, "--z", z, "z=0"), 2, "z=0", "--z", "f2.npy")
    expect_run(compare("--x", x, "--w", w, "alpha2=0.5"), 2, "alpha2=0.5: needs z=1")


@test
def what_does_not_fit_is_named():
    x, w, dy = make("x.npy", (2, 6, 9, 7)), make("w.npy", (4, 3, 3, 2)), make("dy.npy", (2, 4, 7, 5))
    for arguments, pieces in [
            (["n=3"], ["n is 3 in the problem", "x.npy"]),
            (["groups=3"], ["w.npy has C/groups=3 and", "x.npy has C=6, so groups would be 2, but the problem says groups=3"]),
            (["in=9x8"], ["9x8", "9x7"]),
            (["stride=0"], ["stride=0"]),
            (["filtre=3"], ["filtre"]),
            (["--dy", dy], ["dy.npy", "(2, 4, 7, 5)", "(2, 4, 7, 6)"]),
            (["--dir", "bwd_data"], ["dir=bwd_data", "--w and --dy"]),
            (["dir=bwd_filter"], ["dir=bwd_filter", "--x and --dy"]),
            (["n=2", "pad=1"], ["one problem", "in quotes: 'n=2 pad=1'"]),
            ([write("problem.txt", "n=2")], ["problem.txt", "a problem text is needed", "not a file"]),
            (["-"], ["'-'", "not a file"])]:
        expect_run(compare("--x", x, "--w", w, *arguments), 2, *pieces)
    expect_run(compare("--x", x), 2, "no direction")
    expect_run(compare("--x", place("none.npy"), "--w", w), 2, "none.npy")
    expect_run(compare("--x", write("text.npy", "hello"), "--w", w), 2, "text.npy")
    expect_run(compare("--x", make("two.npy", (2, 6)), "--w", w), 2, "two.npy", "(2, 6)")
    expect_run(compare("--x", make("line.npy", (2, 6, 9)), "--w", w), 2, "line.npy has 3 axes, (2, 6, 9)",
               "w.npy has 4 axes, (4, 3, 3, 2)")
    expect_run(compare("--x", make("h.npy", (2, 6, 9, 7), "<f2"), "--w", w), 2, "h.npy holds f16", "dtype=")
    expect_run(compare("--x", make("odd.npy", (2, 7, 9, 7)), "--w", w), 2, "c=7", "w.npy")
    with open(x, "rb") as file:
        whole = file.read()
    expect_run(compare("--x", write("cut.npy", whole[:-3]), "--w", w), 2, "cut.npy")
    header = whole.replace(b"<f4", b"<i4")
    expect_run(compare("--x", write("ints.npy", header), "--w", w), 2, "ints.npy")
    zero = write("zero.npy", b"")
    oracle.write_npy(zero, (0, 6, 9, 7), "<f4", [])
    expect_run(compare("--x", zero, "--w", w), 2, "n=0")


tool.main()
