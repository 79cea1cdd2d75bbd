"""The drop-in in PyTorch, in mode verify: on the same inputs, is our result that of the real cuDNN?"""

import re
from pathlib import Path

from . import problems
from .parity import DIRECTIONS, KINDS
from .programs import Program, now

# One line of the table that --stats prints in mode verify: calls, who, kernel, compared, differed, skipped, worst, problem.
ROW = re.compile(r"^groupdnn(?:\[\d+\])?:\s+(\d+)\s+(\w+)\s+(\S+)(?:\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+))?\s+(\S.*)$")
MOST_IMAGES = 16


def table(text):
    """The rows of the tables in what a program printed."""
    rows = []
    for line in text.splitlines():
        match = ROW.match(line)
        if match and "=" in match[8]:
            rows.append({"calls": int(match[1]), "by": match[2], "what": match[3], "compared": int(match[4] or 0),
                         "differed": int(match[5] or 0), "worst": match[7], "problem": match[8]})
    return rows


def texts_of(layers):
    texts = []
    for i, layer in enumerate(layers):
        dtype, layout = KINDS[i % len(KINDS)]
        given = problems.fields(layer)
        if len(given["in"].split("x")) == 1:
            layout = "nchw"
        layer = problems.changed(layer, n=min(int(given["n"]), MOST_IMAGES))
        texts += [problems.completed(layer, dir=direction, dtype=dtype, layout=layout) for direction in DIRECTIONS]
    return list(dict.fromkeys(texts))


def program_of(check, deadline, texts, printed):
    helper = Path(__file__).resolve().parent / "torch_layers.py"
    # It stops by itself, in time for the table that is printed at its end.
    command = [check.python, helper, "once", "cuda", "%.0f" % (0.8 * (deadline - now()))]
    if check.device == "double":
        command = [check.build / "tools" / "examples" / "conv"]
    return Program(check.tool("run", "--mode", "verify", "--stats", "--log", "error:%s" % printed, "--", *command), check.env,
                   check.log, "\n".join(texts) + "\n")


def verify(check, deadline, layers):
    texts, count = texts_of(layers), 0
    printed = check.out / "dropin.txt"
    printed.unlink(missing_ok=True)
    program = program_of(check, deadline, texts, printed)
    for row in program.records(deadline):
        if "missing" in row:
            check.skip("the drop-in in PyTorch", row["missing"])
            return
        count += 1
        check.progress.show("drop-in: %d of %d" % (count, len(texts)))
        if row.get("error"):
            check.skip("drop-in: " + row["problem"], row["error"])
    if check.device == "gpu":
        for text in texts[count:]:
            check.not_run("drop-in: " + text)
    text = printed.read_text() if printed.exists() else ""
    with open(check.log, "a", encoding="utf-8") as log:
        log.write(text)
    printed.unlink(missing_ok=True)
    rows = table(text)
    if program.code is None:
        check.not_run("the drop-in: its table")
    elif not sum(row["compared"] for row in rows):
        check.fail("the drop-in compared nothing: see %s" % check.log.name)
    for row in rows:
        check.rows("dropin", row)
        if row["differed"]:
            check.fail("the drop-in: %d of %d results differ from cuDNN's (%s times the bound): %s" %
                       (row["differed"], row["compared"], row["worst"], row["problem"]))
