"""A convolution by its definition and .npy files, in plain Python: nothing here comes from the project."""

import ast
import itertools
import struct

FORMATS = {"<f2": "e", "<f4": "f", "<f8": "d", "<u2": "H"}


def read_npy(path):
    """Shape, type and values; <u2 holds bfloat16."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode("latin1"))
    assert not header["fortran_order"]
    count = 1
    for size in header["shape"]:
        count *= size
    values = list(struct.unpack("<%d%s" % (count, FORMATS[header["descr"]]), data[10 + length:]))
    if header["descr"] == "<u2":
        values = [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in values]
    return header["shape"], header["descr"], values


def write_npy(path, shape, descr, values):
    if descr == "<u2":
        values = [struct.unpack("<I", struct.pack("<f", v))[0] >> 16 for v in values]
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack("<%d%s" % (len(values), FORMATS[descr]), *values))


def parse(text):
    """The keys of a problem's text, with defaults; axes as lists."""
    p = {"dir": "fwd", "groups": "1", "pad": "0", "stride": "1", "dilation": "1", "mode": "xcorr", "alpha": "1",
         "beta": "0", "alpha2": "1", "bias": "0", "z": "0", "act": "none"}
    p.update(token.split("=", 1) for token in text.split())
    p["in"] = [int(v) for v in p["in"].split("x")]
    p["filter"] = [int(v) for v in p["filter"].split("x")]
    p.setdefault("pad_after", p["pad"])
    for key in ("pad", "pad_after", "stride", "dilation"):
        parts = [int(v) for v in p[key].split("x")]
        p[key] = parts * len(p["in"]) if len(parts) == 1 else parts
    for key in ("n", "c", "k", "groups", "bias", "z"):
        p[key] = int(p[key])
    for key in ("alpha", "beta", "alpha2"):
        p[key] = float(p[key])
    p["out"] = [(i + a + b - (f - 1) * d - 1) // s + 1 for i, a, b, f, d, s in
                zip(p["in"], p["pad"], p["pad_after"], p["filter"], p["dilation"], p["stride"])]
    return p


def shapes(p):
    return {"x": [p["n"], p["c"]] + p["in"], "w": [p["k"], p["c"] // p["groups"]] + p["filter"],
            "y": [p["n"], p["k"]] + p["out"]}


def product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


def places(sizes):
    return list(enumerate(itertools.product(*[range(size) for size in sizes])))


def convolve(p, x, w, y, prior, z, bias):
    """What the direction writes: every product x * w that contributes to an output, met once each."""
    cpg, kpg = p["c"] // p["groups"], p["k"] // p["groups"]
    inputs, outputs, taps = product(p["in"]), places(p["out"]), places(p["filter"])
    size = {"fwd": p["n"] * p["k"] * len(outputs), "bwd_data": p["n"] * p["c"] * inputs,
            "bwd_filter": p["k"] * cpg * len(taps)}[p["dir"]]
    total = [0.0] * size
    for o, out in outputs:
        for t, tap in taps:
            flipped = [f - 1 - v for f, v in zip(p["filter"], tap)] if p["mode"] == "conv" else tap
            at = [v * s - a + u * d for v, s, a, u, d in
                  zip(out, p["stride"], p["pad"], flipped, p["dilation"])]
            if any(v < 0 or v >= size for v, size in zip(at, p["in"])):
                continue
            i = 0
            for v, extent in zip(at, p["in"]):
                i = i * extent + v
            for n in range(p["n"]):
                for k in range(p["k"]):
                    for c in range(cpg):
                        xi = (n * p["c"] + k // kpg * cpg + c) * inputs + i
                        wi = (k * cpg + c) * len(taps) + t
                        yi = (n * p["k"] + k) * len(outputs) + o
                        if p["dir"] == "fwd":
                            total[yi] += x[xi] * w[wi]
                        elif p["dir"] == "bwd_data":
                            total[xi] += y[yi] * w[wi]
                        else:
                            total[wi] += x[xi] * y[yi]
    total = [p["alpha"] * v for v in total]
    if p["beta"]:
        total = [v + p["beta"] * b for v, b in zip(total, prior)]
    if p["z"]:
        total = [v + p["alpha2"] * b for v, b in zip(total, z)]
    if p["bias"]:
        total = [v + bias[i // len(outputs) % p["k"]] for i, v in enumerate(total)]
    return [max(v, 0.0) for v in total] if p["act"] == "relu" else total
