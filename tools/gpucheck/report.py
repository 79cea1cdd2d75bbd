"""What the figures say: rows, ratios, losses, and the lines that they justify in src/wins.def."""

import math

from . import problems

HEAD = ["layer", "dir", "dtype", "layout", "kernel", "us", "legacy us", "graph us", "torch us", "floor us", "% floor",
        "cuDNN/us", "torch/us"]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def figure(value, digits=1):
    return "-" if value is None else "%.*f" % (digits, value)


def over(a, b):
    return a / b if a and b else None


def merged(times, torch):
    """The rows that were timed, with PyTorch's time and its ratio."""
    own = {row["problem"]: row.get("torch_ms") for row in torch}
    return [{**row, "torch_ms": own.get(row["layer"]), "torch_ratio": over(own.get(row["layer"]), row["ms"])}
            for row in times if row["ms"]]


def name_of(text):
    given = problems.fields(text)
    return given.get("name") or "%sx%s/%s k%s" % (given["n"], given["c"], given["in"], given["filter"])


def thousand(value):
    return None if value is None else 1e3 * value


def cells(row):
    given = problems.fields(row["layer"])
    return [name_of(row["layer"]), row["dir"], given.get("dtype", "f32"), given.get("layout", "nchw"),
            row["timed_kernel"] or "-", figure(thousand(row["ms"])), figure(thousand(row["cudnn_legacy_ms"])),
            figure(thousand(row["cudnn_graph_ms"])), figure(thousand(row["torch_ms"])), figure(row["floor_us"]),
            figure(row["percent_of_floor"]), figure(row["ratio"], 2), figure(row["torch_ratio"], 2)]


def columns(head, rows):
    """As text: the first five columns to the left, figures to the right."""
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) if i < 5 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in [head] + rows)


def markdown(head, rows):
    lines = [head, ["---" if i < 5 else "---:" for i in range(len(head))]] + rows
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def means(rows):
    """Lines: geometric means of the ratios and of the share of the floor, over all rows and by parts of them."""
    parts = [("all", rows)]
    for key in ("dir", "timed_kernel"):
        for value in dict.fromkeys(row[key] for row in rows):
            parts.append((str(value), [row for row in rows if row[key] == value]))
    lines = []
    for name, part in parts:
        figures = [geometric_mean([row[key] for row in part if row[key]]) for key in
                   ("ratio", "torch_ratio", "percent_of_floor")]
        losses = sum(1 for row in part if row["ratio"] and row["ratio"] < 1)
        lines.append([name, str(len(part)), str(losses)] + [figure(value, 2) for value in figures])
    return [["rows", "count", "below 1.0", "cuDNN/us", "torch/us", "% floor"]] + lines


def losses(rows):
    """What is slower than cuDNN, the worst first."""
    return sorted((row for row in rows if row["ratio"] and row["ratio"] < 1), key=lambda row: row["ratio"])


# A row wins if cuDNN takes this much longer: within it, another run may say otherwise.
MARGIN = 1.03


def elements(text):
    given = problems.fields(text)
    return int(given["n"]) * int(given["c"]) * math.prod(int(part) for part in given["in"].split("x"))


def family(row):
    """What a line of wins.def is about: kernel, type, layout, filter and stride."""
    given = problems.fields(row["layer"])
    axes = len(given["in"].split("x"))
    return (row["timed_kernel"], given.get("dtype", "f32"), given.get("layout", "nchw"), tuple(problems.numbers(given["filter"], axes)),
            tuple(problems.numbers(given.get("stride", "1"), axes)))


def wins(rows, wrong, sm, source):
    """Lines for src/wins.def: families that win in every row, or in every one from some size of x on. `wrong`: kernels of
    which a result was wrong."""
    families = {}
    for row in rows:
        if row["ratio"] and row["timed_kernel"] and row["timed_kernel"] not in wrong:
            families.setdefault(family(row), []).append(row)
    lines = []
    for (kernel, dtype, layout, filters, strides), members in sorted(families.items()):
        members.sort(key=lambda row: elements(row["layer"]))
        lost = [i for i, row in enumerate(members) if row["ratio"] < MARGIN]
        kept = members[lost[-1] + 1:] if lost else members
        if lost:  # problems of the size that lost do not win
            kept = [row for row in kept if elements(row["layer"]) > elements(members[lost[-1]]["layer"])]
        if not kept:
            continue
        when = ["p->dtype == GDNN_%s" % dtype.upper(), "p->spatial == %d" % len(filters)]
        when.append("p->x_stride[%d] == 1" % (1 if layout == "nhwc" else len(filters) + 1))
        when += ["p->filter[%d] == %d" % pair for pair in enumerate(filters)]
        when += ["p->stride[%d] == %d" % pair for pair in enumerate(strides)]
        when.append("X_ELEMENTS(p) >= %d" % elements(kept[0]["layer"]))
        ratios = [row["ratio"] for row in kept]
        lines.append("GDNN_WIN(%s, %s, %s, %s, MEASURED, \"%s: %d rows, cuDNN takes %.2f to %.2f times as long\")" %
                     (kernel, " && ".join(when), sm, sm, source, len(kept), min(ratios), max(ratios)))
    return lines


def table_of_means(rows):
    lines = means(rows)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(line, widths))) for line in lines)


def beside_cudnn(times):
    """Lines: how far our results are from cuDNN's on the same data, and where further than rounding on both sides explains."""
    compared = [row for row in times if row.get("vs_cudnn_l2") is not None]
    if not compared:
        return []
    worst = max(compared, key=lambda row: row["vs_cudnn_l2"] / row["tol"])
    far = [row for row in compared if row["vs_cudnn_l2"] > 2 * row["tol"]]
    lines = ["cuDNN on the same data: %d rows, at most %.2g bounds of an error apart" %
             (len(compared), worst["vs_cudnn_l2"] / worst["tol"])]
    return lines + ["  %.2g apart; from the reference ours %.2g, cuDNN's %.2g, bound %.2g: %s" %
                    (row["vs_cudnn_l2"], row["err_l2"], row["cudnn_err_l2"], row["tol"], row["problem"]) for row in far[:20]]


def error_of(row):
    if row["reason"] == "driver-error":
        return "the driver failed"
    return "error %s, bound %s" % (row["err_l2"], row["tol"])


def section(title, lines):
    return ["", title] + ["  " + line for line in lines] if lines else []


def summary(check, rows, proposals):
    """What stands last: it is what a reader must see."""
    parity = check.results["parity"]
    wrong = [row for row in parity if row["pass"] is False]
    lines = ["parity: %d rows right, %d wrong, %d not run by our kernels" %
             (sum(1 for row in parity if row["pass"]), len(wrong), sum(1 for row in parity if row["pass"] is None))]
    lines += beside_cudnn(check.results["times"])
    lines += section("wrong:", ["%s: %s: %s" % (row["kernel"], error_of(row), row["problem"]) for row in wrong[:20]])
    lines += section("failed:", check.failures)
    if rows:
        lines += ["", table_of_means(rows)]
    if not all(row["real_time"] for row in rows):
        lines.append("Times mean nothing: this was no GPU.")
    lost = losses(rows)
    lines += section("slower than cuDNN (%d rows):" % len(lost),
                     ["%.2f  %s  %s" % (row["ratio"], row["timed_kernel"], row["layer"]) for row in lost[:20]])
    lines += section("for src/wins.def, once these results are committed:", proposals)
    lines += section("skipped:", ["%s: %s" % pair for pair in check.skipped])
    left = check.left
    lines += section("not run, for want of time (%d):" % len(left), left[:10] + (["..."] if len(left) > 10 else []))
    return lines


def write_markdown(check, rows, facts, lines):
    gpu = facts.get("gpu") or {}
    text = ["# gpu-check", "", "%s, driver %s, commit %s%s" % (gpu.get("name", check.device), gpu.get("driver_version", "-"),
                                                                facts.get("commit"),
                                                                " with changes" if facts.get("changed") else ""), ""]
    if rows:
        text += [markdown(HEAD, [cells(row) for row in rows]), ""]
    text += ["```"] + lines + ["```", ""]
    (check.out / "report.md").write_text("\n".join(text), encoding="utf-8")
