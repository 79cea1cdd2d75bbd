"""The tables for people: columns, sections, sentences below, and progress."""

import os
import pty
import subprocess

import tool
from tool import SMALL, compare, expect, expect_run, place, run, test, write

LONG = "a_name_of_exactly_forty_letters_as_it_is"
ELEMENT = "é" * 12
LAYERS = "name=%s %s\nname=%s %s\nname=b %s\n" % (LONG, SMALL, ELEMENT, SMALL, SMALL)


def table(result, stream="out"):
    """The rows of a table: the lines between its headings and the next blank line."""
    lines = getattr(result, stream).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("name "))
    end = lines.index("", start)
    return lines[start], lines[start + 1:end], lines[end + 1:]


def emulated(*arguments, env=None):
    return run("compare", "--device", "emulated", *arguments, env=env)


def expect_columns(head, rows, last):
    for line in rows:
        expect(len(line) <= 120, len(line), line)
        for title in ("dir", "dtype", "kernel"):
            at = head.index(" " + title + " ")
            expect(line[at] == " " and line[at + 1] != " ", title, head, line)
        expect(last(line), line)


@test
def names_never_shift_the_columns():
    path = write("layers.txt", LAYERS)
    for result in (emulated(path), run("explain", path)):
        expect_run(result, 0)
        head, rows, _ = table(result)
        expect(len(rows) == 27, rows)
        expect_columns(head, rows, lambda line: line.endswith("  ok") or line.endswith("  no-evidence"))
        expect(rows[0].startswith(LONG[:20] + "… "), rows[0])
        expect(rows[9].startswith(ELEMENT + " "), rows[9])
    head, rows, _ = table(emulated(SMALL))
    expect(head.index("dir") < 12, "short names have a narrow column", head)


@test
def skipped_rows_are_short():
    path = write("layers.txt", LAYERS)
    for env in ({"GROUPDNN_DISABLE": "all"}, {"GDNN_FAKE_MEMORY": "20000"}):
        head, rows, below = table(emulated(path, env=env))
        reason = "memory" if "GDNN_FAKE_MEMORY" in env else "disabled"
        expect_columns(head, rows, lambda line: line.endswith("  skipped: " + reason))
        expect(below[-1] == "nothing was run: every problem was skipped (%s)" % reason, below)
        notes = [line for line in below if line.startswith(reason + ": ")]
        expect(notes and len(set(notes)) == len(notes), below)
    result = emulated("--kernel", "direct_fwd", "--dtype", "f32", SMALL)
    expect_run(result, 0)
    expect("nothing was run" not in result.out, result.out)


@test
def sentences_are_said_once_below_the_table():
    path = write("layers.txt", LAYERS)
    for arguments in ([path], ["--dtype", "f32", path]):
        _, rows, below = table(run("explain", *arguments))
        notes = [line for line in below if line.startswith("no-evidence: ")]
        expect(len(notes) == 1 and len(notes[0]) <= 120, below)
        expect(all(row.endswith("  no-evidence") for row in rows), rows)
    _, rows, below = table(emulated("--dtype", "f32", SMALL, SMALL, env={"GROUPDNN_DISABLE": "fwd"}))
    expect(len([row for row in rows if row.endswith("skipped: disabled")]) == 2, rows)
    expect(len([line for line in below if "GROUPDNN_DISABLE names" in line]) == 1, below)


@test
def rows_say_which_file_they_are_from():
    one, two = write("one.txt", SMALL), write("two.txt", SMALL + "\n" + SMALL)
    for command in (["compare", "--device", "emulated"], ["explain"]):
        result = run(*command, "--dir", "fwd", "--dtype", "f32", one, two, SMALL)
        expect_run(result, 0)
        _, rows, _ = table(result)
        expect([row for row in rows if row.endswith(":")] == [one + ":", two + ":", "as text:"], rows)
        expect([row.endswith(":") for row in rows] == [True, False, True, False, False, True, False], rows)
        for alone in ([one], [SMALL], [SMALL, SMALL]):
            _, rows, _ = table(run(*command, "--dir", "fwd", "--dtype", "f32", *alone))
            expect(len(rows) == len(alone), "there is one source only", rows)


@test
def explain_leaves_one_group_to_cudnn():
    one = SMALL.replace("groups=2", "groups=1")
    for mode in ("on", "force"):
        env = {"GROUPDNN_MODE": mode}
        result = run("explain", "--json", "-", one, SMALL.replace(" groups=2", ""), env=env)
        expect_run(result, 0)
        rows, summary = result.records()
        expect(all(row["reason"] == "not-grouped" and row["route"] == "cudnn" for row in rows), rows)
        expect(summary["taken"] == 0 and summary["forwarded"] == len(rows) == 18, summary)
    _, rows, below = table(run("explain", one))
    expect(all(row.endswith("  not-grouped") for row in rows), rows)
    expect(any(line.startswith("not-grouped: groups is 1") for line in below), below)


@test
def problems_from_standard_input():
    text = ("name=a %s\n# nothing\nname=b %s\n" % (SMALL, SMALL)).encode()
    for command in (["compare", "--device", "emulated"], ["explain"]):
        result = run(*command, "--json", "-", "--dtype", "f32", "-", stdin=text)
        expect_run(result, 0)
        expect([row["problem"].split()[0] for row in result.records()[0]] == ["name=a"] * 3 + ["name=b"] * 3,
               result.out)
        expect_run(run(*command, "-", stdin=b"\nn=q\n"), 2, "standard input:2: n=q")
        expect_run(run(*command, "-", stdin=b""), 2, "standard input: there is no problem")


@test
def lines_fit_a_terminal():
    for command in ("compare", "bench", "explain", "kernels", "info"):
        result = run(command, "--help")
        expect(run("help", command).out == run("--help", command).out == result.out, command)
        for line in result.out.splitlines() + run("--help").out.splitlines():
            expect(len(line) <= 80, len(line), line)
        expect("1 mismatch or failure found, or nothing was run" in " ".join(result.out.split()), result.out)
    banner = emulated("--dir", "fwd", SMALL).out.split("\n\n")[0]
    for line in banner.splitlines():
        expect(len(line) <= 100, len(line), line)
    expect_run(run("help", "comapre"), 2, "did you mean compare?")


@test
def a_pipe_shows_rows_as_they_come():
    reader, writer = os.pipe() # standard input that does not end yet holds nothing back but its own rows
    slow = "name=slow n=1 c=32 in=128x128 k=32 filter=5x5 pad=2 groups=2 dtype=f32 dir=fwd"
    process = subprocess.Popen([tool.TOOL, "compare", "--device", "emulated", "--no-scale", "name=quick dir=fwd "
                                "dtype=f32 " + SMALL, slow, slow, slow], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    seen, running = b"", True
    while b"quick" not in seen or not seen.endswith(b"ok\n"):
        piece = os.read(reader, 1 << 16)
        expect(piece, "the output ended", seen)
        seen += piece
    running = process.poll() is None
    os.close(reader)
    process.kill()
    process.communicate()
    expect(running and b"slow" not in seen, "everything came at once", seen)


@test
def progress_is_for_terminals():
    result = emulated("--dtype", "f32", SMALL)
    expect_run(result, 0)
    expect(not result.err, result.err)
    expect("3 run: 3 passed, 0 failed; 0 skipped" in result.out, result.out)

    terminal, end = pty.openpty()
    subprocess.run([tool.TOOL, "compare", "--device", "emulated", "--dtype", "f32", "name=mine " + SMALL],
                   stdout=subprocess.DEVNULL, stderr=end, check=True)
    os.close(end)
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError: # how Linux says that a terminal's other end is closed
        pass
    os.close(terminal)
    for number in (b"1/3  name=mine", b"2/3  name=mine", b"3/3  name=mine"):
        expect(number in shown, shown)
    expect(shown.endswith(b"\r\033[K"), "the line is taken away", shown)


tool.main()
