#!/usr/bin/env python3
"""Makes the golden files in this folder: convolutions and their gradients by PyTorch on the CPU in float64.

    pip install torch numpy      (the CPU build will do)
    python3 tests/golden/make.py

A case is a folder: problem.txt is the problem in the text form (for all three directions, unless it says dir=), the
.npy files are its tensors in logical order; x, w, dy are given, y, dx, dw follow. The case with an epilogue has
bias, z and prior too; prior is what y holds before.

Every value given is a multiple of 1/64 or has so few bits that all sums are exact in float64. So the files do not
depend on the order in which PyTorch adds up, nor on its version, and the tests can demand equality.
"""
import pathlib
import shutil

import numpy as np
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent

CASES = """
name=conv1d_causal dtype=f64 n=2 c=6 in=17 k=6 filter=4 pad=3 pad_after=0 groups=6
name=conv1d_dilated dtype=f64 n=2 c=8 in=19 k=12 filter=3 pad=2 stride=2 dilation=3 groups=4
name=conv2d_grouped dtype=f64 n=2 c=12 in=7x6 k=12 filter=3x3 pad=1 groups=3
name=conv2d_depthwise_stride2 dtype=f64 n=2 c=5 in=8x8 k=5 filter=3x3 pad=1 stride=2 groups=5
name=conv2d_multiplier dtype=f64 n=2 c=3 in=9x7 k=9 filter=5x3 pad=2x1 stride=1x2 groups=3
name=conv2d_asymmetric dtype=f64 n=1 c=4 in=6x9 k=6 filter=2x4 pad=0x2 pad_after=1x0 dilation=2x1 groups=2
name=conv2d_wide_pad dtype=f64 n=1 c=2 in=4x5 k=2 filter=3x2 pad=3x2 groups=2
name=conv2d_pointwise dtype=f64 n=2 c=12 in=5x4 k=8 filter=1x1 stride=2x1 groups=4
name=conv2d_flipped dtype=f64 n=1 c=4 in=6x5 k=4 filter=3x2 pad=1x0 pad_after=1x1 groups=2 mode=conv
name=conv2d_one_group dtype=f64 n=2 c=3 in=6x6 k=4 filter=3x3 stride=2 groups=1
name=conv3d_depthwise dtype=f64 n=1 c=3 in=4x6x5 k=3 filter=3x3x3 pad=1 stride=1x2x2 groups=3
name=conv3d dtype=f64 n=1 c=4 in=4x5x6 k=6 filter=2x1x3 pad=1x0x2 pad_after=0x0x1 stride=2x1x1 dilation=2x1x2 groups=2
name=f16_depthwise dtype=f16 n=2 c=4 in=7x7 k=4 filter=3x3 pad=1 groups=4
name=bf16_grouped dtype=bf16 n=2 c=6 in=16 k=4 filter=3 pad=1 groups=2
name=f32_grouped dtype=f32 n=1 c=8 in=5x5 k=8 filter=3x3 pad=1 groups=2
name=epilogue dtype=f64 dir=fwd n=2 c=4 in=7x6 k=8 filter=3x3 groups=2 alpha=3 beta=-2 bias=1 z=1 alpha2=.5 act=relu
"""


def parse(line):
    """The keys of a problem, with whole numbers and axes as such, and the number of axes."""
    keys = dict(token.split("=") for token in line.split())
    axes = keys["in"].count("x") + 1

    def per_axis(key, default):
        values = [int(v) for v in keys.get(key, default).split("x")]
        return values * axes if len(values) == 1 else values

    problem = {key: int(keys[key]) for key in ("n", "c", "k", "groups")}
    for key, default in (("in", ""), ("filter", ""), ("pad", "0"), ("stride", "1"), ("dilation", "1")):
        problem[key] = per_axis(key, default)
    problem["pad_after"] = per_axis("pad_after", keys.get("pad", "0"))
    for key in ("alpha", "beta", "alpha2"):
        problem[key] = float(keys.get(key, "0" if key == "beta" else "1"))
    problem["dtype"] = keys["dtype"]
    return keys, problem, axes


def values(random, dtype, shape):
    """Values in [-2, 2]: multiples of 1/64 for float64, else as many bits as the type has."""
    if dtype == "f64":
        return random.integers(-128, 129, shape) / 64.0
    bits = {"f16": 11, "bf16": 8, "f32": 16}[dtype]
    significand = random.integers(2 ** (bits - 1), 2**bits, shape) / 2.0**bits
    return significand * 2.0 ** random.integers(-4, 2, shape) * random.choice([-1.0, 1.0], shape)


def store(path, dtype, array):
    """Writes `array` in its own type, which must hold it exactly; bfloat16 as its bits."""
    if dtype == "bf16":
        bits = array.astype("<f4").view("<u4")
        assert not (bits & 0xFFFF).any()
        stored = (bits >> 16).astype("<u2")
    else:
        stored = array.astype({"f16": "<f2", "f32": "<f4", "f64": "<f8"}[dtype])
    if dtype != "bf16":
        assert (stored.astype("<f8") == array).all()
    np.save(path, stored)


def transposed(p, axes, w, dy):
    """dx once more, as a transposed convolution of the padded problem."""
    convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[axes - 1]
    dx = convolve(dy, w, stride=p["stride"], dilation=p["dilation"], groups=p["groups"])
    for axis in range(axes):
        # Elements past the last tap get nothing; then the padding is cut off.
        missing = p["pad"][axis] + p["in"][axis] + p["pad_after"][axis] - dx.shape[axis + 2]
        dx = F.pad(dx, [0, 0] * (axes - 1 - axis) + [0, missing])
        dx = dx.narrow(axis + 2, p["pad"][axis], p["in"][axis])
    return dx


def make(line, seed):
    keys, p, axes = parse(line)
    random = np.random.Generator(np.random.PCG64(seed))
    convolve = (F.conv1d, F.conv2d, F.conv3d)[axes - 1]
    spatial = list(range(2, axes + 2))
    folder = HERE / keys["name"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "problem.txt").write_text(line + "\n")

    x = values(random, p["dtype"], [p["n"], p["c"]] + p["in"])
    w = values(random, p["dtype"], [p["k"], p["c"] // p["groups"]] + p["filter"])
    tx = torch.tensor(x, requires_grad=True)
    tw = torch.tensor(w, requires_grad=True)
    padding = [pad for axis in reversed(range(axes)) for pad in (p["pad"][axis], p["pad_after"][axis])]
    used = tw.flip(spatial) if keys.get("mode") == "conv" else tw
    y = convolve(F.pad(tx, padding), used, stride=p["stride"], dilation=p["dilation"], groups=p["groups"])
    store(folder / "x.npy", p["dtype"], x)
    store(folder / "w.npy", p["dtype"], w)

    if keys.get("dir") == "fwd":
        bias = values(random, p["dtype"], [p["k"]])
        z = values(random, p["dtype"], list(y.shape))
        prior = values(random, p["dtype"], list(y.shape))
        y = p["alpha"] * y + p["beta"] * torch.tensor(prior) + p["alpha2"] * torch.tensor(z)
        y = torch.relu(y + torch.tensor(bias).reshape([1, -1] + [1] * axes))
        for name, array in (("bias", bias), ("z", z), ("prior", prior)):
            store(folder / f"{name}.npy", p["dtype"], array)
    else:
        dy = values(random, p["dtype"], list(y.shape))
        dx, dw = torch.autograd.grad(y, (tx, tw), torch.tensor(dy))
        assert torch.equal(dx, transposed(p, axes, used.detach(), torch.tensor(dy)))
        store(folder / "dy.npy", p["dtype"], dy)
        store(folder / "dx.npy", "f64", dx.numpy())
        store(folder / "dw.npy", "f64", dw.numpy())
    store(folder / "y.npy", "f64", y.detach().numpy())


def make_formats():
    """Small arrays in each form of the .npy format; element i of C order is i + 1/4, or i where that does not fit."""
    folder = HERE / "npy"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    cube = np.arange(24).reshape(2, 3, 4) + 0.25

    np.save(folder / "f2.npy", cube.astype("<f2"))
    np.save(folder / "f4.npy", cube.astype("<f4"))
    np.save(folder / "f8.npy", cube.astype("<f8"))
    np.save(folder / "u2.npy", (np.arange(24).reshape(2, 3, 4).astype("<f4").view("<u4") >> 16).astype("<u2"))
    np.save(folder / "fortran.npy", np.asfortranarray(cube))
    np.save(folder / "one_axis.npy", np.arange(5) + 0.25)
    np.save(folder / "scalar.npy", np.array(0.25))
    np.save(folder / "empty.npy", np.zeros((3, 0, 2)))
    for version in ((2, 0), (3, 0)):
        with open(folder / f"version{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, cube, version=version)
    np.save(folder / "big_endian.npy", cube.astype(">f4"))
    np.save(folder / "i4.npy", np.arange(5, dtype="<i4"))
    np.save(folder / "records.npy", np.zeros(3, dtype=[("a", "<f4"), ("b", "<f8")]))
    np.save(folder / "nine_axes.npy", np.zeros((1,) * 9))


def main():
    for seed, line in enumerate(CASES.split("\n")[1:-1]):
        make(line, seed)
    make_formats()


if __name__ == "__main__":
    main()
