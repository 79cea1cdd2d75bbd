"""Times beside those of cuDNN, by `groupdnn bench`, and beside PyTorch's own depthwise kernels."""

from pathlib import Path

from . import problems
from .parity import DIRECTIONS, KINDS
from .programs import Program, now

# So many layers are timed in a type and layout before the first of the next.
AHEAD = 10


def order(layers, kinds=KINDS):
    """What to time: the first layers in all types and layouts before the last in any."""
    ranked = []
    for i, layer in enumerate(layers):
        for j, (dtype, layout) in enumerate(kinds):
            for direction in DIRECTIONS:
                text = problems.completed(layer, dir=direction, dtype=dtype, layout=layout)
                ranked.append((i + AHEAD * j, text))
    ranked.sort(key=lambda pair: pair[0])  # stable: directions stay together
    return list(dict.fromkeys(text for _, text in ranked))


def bench(check, deadline, texts):
    """Runs the bench on them. One that ends it, or leaves the device unusable, is passed over."""
    left, total, seen = list(texts), len(texts), []
    while left and now() < deadline:
        program = Program(check.tool("bench", "--json", "-", "-"), check.env, check.log,
                          "\n".join(left) + "\n")
        before = len(left)
        for row in program.records(deadline):
            if "problem" not in row:
                continue
            row["layer"] = left.pop(0)  # a row for each, in their order; "problem" may be scaled, what is timed is whole
            seen.append(row)
            check.rows("times", row)
            check.progress.show("times: %d of %d rows" % (len(seen), total))
            if row["reason"] == "driver-error":
                break  # what follows may fail for that alone: go on in another process
        if program.code is None or len(left) < before:
            continue
        check.fail("bench ended with status %s at %s" % (program.code, left[0]))
        left.pop(0)
    for text in left:
        check.not_run("time of " + text)
    if seen and not any(row["cudnn_ms"] for row in seen):
        check.skip("times of cuDNN", "bench found none that runs: set GROUPDNN_CUDNN to the path of libcudnn.so.9")


def pytorch(check, deadline, rows):
    """Times PyTorch's own kernels, without cuDNN, on the depthwise problems that were timed."""
    wanted = [row["layer"] for row in rows if row["ms"] and problems.is_depthwise(row["layer"])]
    if not wanted:
        return
    helper = Path(__file__).resolve().parent / "torch_layers.py"
    program = Program([check.python, helper, "time"], check.env, check.log, "\n".join(wanted) + "\n")
    count = 0
    for row in program.records(deadline):
        if "missing" in row:
            check.skip("PyTorch's own kernels", row["missing"])
            return
        if "problem" not in row:
            check.facts["torch"] = row
            continue
        count += 1
        check.rows("torch", row)
        check.progress.show("PyTorch: %d of %d rows" % (count, len(wanted)))
    for text in wanted[count:]:
        check.not_run("PyTorch's time of " + text)
