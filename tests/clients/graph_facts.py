"""What a convolution is, from two sides: a problem's text, and the text (JSON) of a plan of NVIDIA's. Both become one
dictionary, so that they can be compared. Nothing here comes from the project."""

import json

TYPES = {"f16": "CUDNN_DATA_HALF", "bf16": "CUDNN_DATA_BFLOAT16", "f32": "CUDNN_DATA_FLOAT", "f64": "CUDNN_DATA_DOUBLE"}
MODES = {"xcorr": "CUDNN_CROSS_CORRELATION", "conv": "CUDNN_CONVOLUTION"}
OPERATIONS = {"CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR": ("fwd", "X", "W", "Y"),
              "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR": ("bwd_data", "dX", "W", "dY"),
              "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR": ("bwd_filter", "X", "dW", "dY")}
# Unique ids that the clients give to it; by its shape alone a z may look the same.
BIAS = {"98", "5"}
POINTWISE = "CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR"


def numbers(text):
    return [int(part) for part in text.split("x")]


def packed(sizes, layout):
    order = list(range(len(sizes)))
    if layout == "nhwc":
        order = [0] + order[2:] + [1]
    strides, step = [0] * len(sizes), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= sizes[axis]
    return strides


def seen(sizes, strides):
    """Sizes, and the strides that say something: an axis of size 1 may have any."""
    return [sizes, [stride if size > 1 else None for size, stride in zip(sizes, strides)]]


def read_text(text, one_axis=None):
    """The facts of a problem's text. one_axis: "first" or "last" is where a second spatial axis, of size 1, is added to
    a problem that has one."""
    p = dict(token.split("=", 1) for token in text.split())
    inside, taps = numbers(p["in"]), numbers(p["filter"])
    axes = len(inside)

    def per_axis(key, default):
        values = numbers(p.get(key, default))
        return values * axes if len(values) == 1 else values

    pad, stride, dilation = per_axis("pad", "0"), per_axis("stride", "1"), per_axis("dilation", "1")
    after = per_axis("pad_after", p.get("pad", "0"))
    out = [(i + a + b - (f - 1) * d - 1) // s + 1
           for i, a, b, f, d, s in zip(inside, pad, after, taps, dilation, stride)]
    n, c, k, groups = (int(p[key]) if key in p else 1 for key in ("n", "c", "k", "groups"))
    sizes = {"x": [n, c] + inside, "w": [k, c // groups] + taps, "y": [n, k] + out}
    strides = {role: numbers(p[role + "strides"]) if role + "strides" in p else
               packed(sizes[role], p.get("layout", "nchw")) for role in "xwy"}
    sizes["z"], strides["z"] = sizes["y"], numbers(p["zstrides"]) if "zstrides" in p else strides["y"]
    if one_axis and axes == 1:
        at = 2 if one_axis == "first" else 3
        for role in "xwyz":
            sizes[role] = sizes[role][:at] + [1] + sizes[role][at:]
            strides[role] = strides[role][:at] + [0] + strides[role][at:]
        for values, one in ((pad, 0), (after, 0), (stride, 1), (dilation, 1)):
            values.insert(at - 2, one)
    facts = {role: seen(sizes[role], strides[role]) for role in "xwy"}
    dtype = p.get("dtype", "f32")
    facts.update(dir=p.get("dir", "fwd"), types={TYPES[dtype]}, mode=MODES[p.get("mode", "xcorr")], groups=groups,
                 pad=pad, pad_after=after, stride=stride, dilation=dilation,
                 alpha=float(p.get("alpha", 1)), beta=float(p.get("beta", 0)),
                 bias=p.get("bias", "0") == "1", act=p.get("act", "none"),
                 z=seen(sizes["z"], strides["z"]) if p.get("z", "0") == "1" else None,
                 sums=TYPES[p.get("acc", "f64" if dtype == "f64" else "f32")])
    facts["alpha2"] = float(p.get("alpha2", 1)) if facts["z"] else None
    return facts


def first_of_equals(pairs):
    """Where the groups are an axis of their own, NVIDIA writes groupCount twice; the first one is right."""
    result = {}
    for key, value in pairs:
        result.setdefault(key, value)
    return result


def whole(tensor, axis, to, spatial):
    """Sizes and strides with the axis of the groups, at `to`, joined to the one that it splits."""
    sizes, strides = tensor["dim"], tensor["stride"]
    if len(sizes) == spatial + 3:
        assert strides[to] == sizes[axis + 1] * strides[axis + 1], tensor
        sizes = sizes[:to] + [sizes[to] * sizes[axis + 1]] + sizes[to + 2:]
        strides = strides[:to] + strides[to + 1:]
    assert len(sizes) == spatial + 2, tensor
    return sizes, strides


def read_plan(text):
    """The facts of a plan's text: one convolution, then what may follow it."""
    graph = json.loads(text, object_pairs_hook=first_of_equals)["operationGraph"]
    tensors = {tensor["name"]: tensor for tensor in graph["tensors"]}
    node, *after = graph["nodes"]
    direction, x, w, y = OPERATIONS[node["operation"]]
    spatial = len(node["stride"])
    facts = {"dir": direction, "mode": node["mode"], "groups": node.get("groupCount", 1), "stride": node["stride"],
             "dilation": node["dilation"], "alpha": node["alpha"], "beta": node["beta"], "sums": node["mathPrec"],
             "pad": node["pad"] if "pad" in node else node["pad_lower"],
             "pad_after": node["pad"] if "pad" in node else node["pad_upper"],
             "bias": False, "z": None, "alpha2": None, "act": "none"}
    given, last = [tensors[node[x]], tensors[node[w]]], node[y]
    for point in after:
        assert point["operation"] == POINTWISE and point["X"] == last and tensors[last]["isVirtual"], point
        if point["pointwiseMode"] == "CUDNN_POINTWISE_RELU_FWD":
            assert (point["lowerClip"], point["lowerClipSlope"], point["alpha1"]) == (0, 0, 1), point
            facts["act"] = "relu"
        else:
            assert point["pointwiseMode"] == "CUDNN_POINTWISE_ADD", point
            other = tensors[point["B"]]
            given.append(other)
            sizes, strides = whole(other, 1, 1, spatial)
            if point["B"] in BIAS:
                assert sizes[0] == 1 and set(sizes[2:]) == {1}, point
                assert point["alpha1"] == point["alpha2"] == 1, point
                facts["bias"] = True
            else:
                facts["z"], facts["alpha2"] = seen(sizes, strides), point["alpha2"]
                facts["alpha"] *= point["alpha1"]
        last = point["Y"]
    given.append(tensors[last])
    assert not any(tensor["isVirtual"] or tensor["isByValue"] for tensor in given), graph
    facts["types"] = {tensor["dataType"] for tensor in given}
    facts["x"] = seen(*whole(tensors[node[x]], 1, 1, spatial))
    facts["w"] = seen(*whole(tensors[node[w]], 0, 0, spatial))
    facts["y"] = seen(*whole(tensors[last], 1, 1, spatial))
    return facts


def differences(one, other):
    """What differs, a line each."""
    return ["%s: %s and %s" % (key, one.get(key), other.get(key)) for key in sorted(set(one) | set(other))
            if one.get(key) != other.get(key)]
