"""Problems for clients that execute, cut down until a convolution in plain Python takes a moment."""

import glob
import os

import oracle

PRODUCTS = 1.2e5  # of a problem, and ten times as many where strides are given, which are not cut
# Most images and groups, and outputs along an axis, from the size that is best to the one that must do.
SIZES = ((4, 16, 12), (2, 16, 8), (2, 8, 6), (2, 4, 4), (1, 2, 3), (1, 2, 1))
# Of one problem in turn; a line of the shapes may say otherwise.
TURNS = [("pytorch", "dir=fwd dtype=f16 layout=nhwc"), ("xla", "dir=bwd_data dtype=f32 layout=nchw"),
         ("pytorch --benchmark", "dir=bwd_filter dtype=bf16 layout=nhwc"), ("ort", "dir=fwd dtype=f32 layout=nchw"),
         ("xla", "dir=fwd dtype=bf16 layout=nchw"), ("pytorch", "dir=bwd_data dtype=f16 layout=nhwc"),
         ("xla", "dir=bwd_filter dtype=f32 layout=nhwc"), ("ort --benchmark", "dir=bwd_data dtype=f16 layout=nchw"),
         ("pytorch", "dir=bwd_filter dtype=f32 layout=nchw")]


def cut(line):
    """The line's problem, small enough: fewer images, groups and pixels. None: it cannot be cut so far."""
    words = [word for word in line.split() if "=" in word and not word.startswith(("name=", "count="))]
    p = oracle.parse(" ".join(words))
    cpg, kpg = p["c"] // p["groups"], p["k"] // p["groups"]
    fixed = any("strides" in word for word in words)
    n, groups, inside = p["n"], p["groups"], p["in"]
    for most_n, most_groups, pixels in SIZES:
        if not fixed:
            n, groups = min(p["n"], most_n), min(p["groups"], most_groups)
            inside = [min(i, max(1, (f - 1) * d + 1 + (pixels + i % 2) * s - a - b)) for i, f, d, s, a, b in
                      zip(p["in"], p["filter"], p["dilation"], p["stride"], p["pad"], p["pad_after"])]
        outputs = [(i + a + b - (f - 1) * d - 1) // s + 1 for i, f, d, s, a, b in
                   zip(inside, p["filter"], p["dilation"], p["stride"], p["pad"], p["pad_after"])]
        if n * groups * cpg * kpg * oracle.product(p["filter"] + outputs) <= PRODUCTS * (10 if fixed else 1):
            break
    else:
        return None
    new = {"n": n, "c": groups * cpg, "k": groups * kpg, "groups": groups, "in": "x".join(map(str, inside))}
    if fixed:
        new = {}
    words = [word for word in words if word.split("=")[0] not in new]
    flags = [word for word in line.split() if "=" not in word]
    return " ".join(flags + ["%s=%s" % pair for pair in new.items()] + words)


def shapes(folder, step):
    """Client, options and problem of one of `step` lines of the folder's files."""
    lines = []
    for path in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        with open(path) as file:
            lines += [line.split("#")[0].strip() for line in file]
    lines = [line for line in lines if line and "groups=1 " not in line + " "]
    for number, line in enumerate(lines[::step]):
        client, turn = TURNS[number % len(TURNS)]
        keys = {word.split("=")[0] for word in line.split()}
        more = [word for word in turn.split() if word.split("=")[0] not in keys and
                not (word.startswith("layout") and "xstrides" in keys)]
        small = cut(" ".join([line] + more))
        if small:
            yield client + " " + small


def listed(path):
    """The same of a file that names the client in every line. --gpu: only the one that is there can be run on."""
    with open(path) as file:
        lines = [line.strip() for line in file if line.strip() and line[0] != "#"]
    for line in lines:
        small = None if "--gpu" in line else cut(line)
        if small:
            yield small
