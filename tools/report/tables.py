"""The report as text: a table for each architecture, and what changed since another report."""

from .mix import CLASSES


def aligned(head, rows):
    """A table, the first column to the left and the others to the right."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:]))]).rstrip()
                     for line in lines)


def short(name):
    return name[len("gdnn_"):] if name.startswith("gdnn_") else name


def percent(part, whole):
    return "%.0f%%" % (100 * part / whole if whole else 0)


def classes_used(rows):
    return [name for name in CLASSES if any(row["mix"] and row["mix"][name] for row in rows)]


def mean_load(row):
    """The loads that a thread has under way: 8x2B; with a point where they are not all as wide."""
    loads, size = row["flight_loads"], row["flight_bytes"]
    return "%dx%gB" % (loads, round(size / loads, 1)) if loads else "0"


def cells(row, classes):
    """What the table says of a kernel, by column."""
    dynamic = row["shared_dynamic"]
    said = {
        "kernel": short(row["kernel"]),
        "regs": str(row["registers"]),
        "spill": str(row["spill_stores"] + row["spill_loads"]),
        "static": str(row["shared_static"]),
        "dynamic": "<=%d" % row["shared_dynamic_max"] if dynamic is None else str(dynamic),
        "threads": str(row["threads"]) if row["threads"] else "?",
        "blocks": str(row["blocks"]) if row["threads"] else "?",
        "occup": percent(row["occupancy"], 1) if row["threads"] else "?",
        "limit": "+".join(row["limits"]) or "?",
        "code": str(row["code"]),
        "loads": "-", "flight": "-", "loop": "-", "size": "-",
    }
    if row["mix"]:
        size = row["loop"]["instructions"]
        said["loads"] = mean_load(row)
        said["flight"] = str(row["flight"]) if row["flight"] is not None else "?"
        said["loop"] = row["loop"]["label"] or "none"
        said["size"] = str(size)
        said.update((name, "%d %s" % (row["mix"][name], percent(row["mix"][name], size).rjust(3))) for name in classes)
    else:
        said.update((name, "-") for name in classes)
    return said


def table(arch, rows):
    classes = classes_used(rows)
    lines = [cells(row, classes) for row in rows]
    head = list(lines[0])
    return "sm_%d\n%s" % (arch, aligned(head, [[line[name] for name in head] for line in lines]))


NOTES = """\
spill     bytes of spill stores and loads in the code
static, dynamic
          bytes of shared memory a block; <=N: it depends on the problem, and N is the most that a block can have
blocks    on an SM at once, the share of its warps that they fill, and by which limit
loads     of global memory that a thread has under way at most when it walks the main loop in order, loops inside it once
          a round: each load until its result is used, cp.async until a wait asks for its group; and their mean width
flight    bytes an SM: those loads x width x threads x blocks. An upper bound: predicated loads count, equal addresses twice
loop      the main loop: of all loops, the one whose own instructions, without those of loops inside it, do the most
          floating-point work, or without any the most accesses; none: no such loop, the whole kernel. size: instructions
code      bytes
"""


def notes(rows):
    text = NOTES
    if any(row["shared_counted"] is None for row in rows):
        text += "blocks and flight leave out the shared memory that depends on the problem; --shared BYTES counts it\n"
    used = classes_used(rows)
    for name in used:
        text += "%-9s %s\n" % (name, CLASSES[name])
    if used:
        text += "Each of these: instructions of the main loop, and percent. Classes that no kernel has are left out.\n"
    return text


def facts(row):
    """What a comparison looks at, in order."""
    told = {name: row[key] for name, key in (
        ("registers", "registers"), ("spill stores", "spill_stores"), ("spill loads", "spill_loads"),
        ("static shared", "shared_static"), ("blocks an SM", "blocks"), ("bytes in flight an SM", "flight"),
        ("code", "code"))}
    if row["mix"]:
        told["loop instructions"] = row["loop"]["instructions"]
        told.update(row["mix"])
    return told


def compare(old_rows, new_rows):
    """What changed, a line a fact, and whether anything did."""
    def keyed(rows):
        return {(row["arch"], row["kernel"]): row for row in rows}
    old, new = keyed(old_rows), keyed(new_rows)
    head, lines = ["kernel", "fact", "old", "new", "change"], []
    for key in sorted({**old, **new}):
        name = "sm_%d %s" % (key[0], short(key[1]))
        if key not in old:
            lines.append([name, "new", "", "", ""])
            continue
        if key not in new:
            lines.append([name, "gone", "", "", ""])
            continue
        before, after = facts(old[key]), facts(new[key])
        for fact in list(dict.fromkeys([*after, *before])):
            a, b = before.get(fact), after.get(fact)
            if a != b:
                change = "%+d" % (b - a) if a is not None and b is not None else ""
                lines.append([name, fact, "-" if a is None else str(a), "-" if b is None else str(b), change])
    return aligned(head, lines) if lines else "nothing changed"
