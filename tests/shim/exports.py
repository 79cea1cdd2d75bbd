#!/usr/bin/env python3
"""exports.py SHIM DEF [--real LIBRARY]: the drop-in as the loader sees it. It must export exactly the names of the list,
all of them under cuDNN's version node, and need nothing but libc; with --real, also every name of that library."""
import argparse
import re
import subprocess
import sys

NODE = "libcudnn.so.9"
failures = 0
checks = 0


def check(what, right, detail=""):
    global checks, failures
    checks += 1
    failures += not right
    print("ok" if right else "not ok", checks, "-", what, *([f"# {detail}"] if detail and not right else []))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exports(library):
    """name: version node, for every function that a library defines for others."""
    names = {}
    for line in output("nm", "-D", "--defined-only", library).splitlines():
        kind, symbol = line.split()[-2:]
        if kind != "A":
            name, _, node = symbol.partition("@@")
            names[name] = (kind, node)
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shim")
    parser.add_argument("table")
    parser.add_argument("--real")
    arguments = parser.parse_args()

    with open(arguments.table, encoding="utf-8") as table:
        listed = re.findall(r"^GDNN_CUDNN\((\w+),", table.read(), flags=re.M)
    ours = exports(arguments.shim)
    check("the list is sorted, without doubles", listed == sorted(set(listed)))
    check("every name of the list is exported", not set(listed) - set(ours), str(sorted(set(listed) - set(ours))))
    check("nothing else is exported", not set(ours) - set(listed), str(sorted(set(ours) - set(listed))))
    check(f"all are functions of the node {NODE}", set(ours.values()) == {("T", NODE)}, str(set(ours.values())))
    if arguments.real:
        lacking = {n for n in exports(arguments.real) if n not in ours}
        check(f"all of {arguments.real} is exported", not lacking, str(sorted(lacking)))

    dynamic = re.findall(r"\((\w+)\)\s+(.*)", output("readelf", "-dW", arguments.shim))
    tags = dict(dynamic)
    needed = [value for tag, value in dynamic if tag == "NEEDED"]
    check("needs libc.so.6 alone", len(needed) == 1 and "[libc.so.6]" in needed[0], str(needed))
    check(f"SONAME {NODE}", f"[{NODE}]" in tags.get("SONAME", ""), tags.get("SONAME", "none"))
    check("no RPATH, no RUNPATH", not {"RPATH", "RUNPATH"} & set(tags))
    check("no relocations in code", "TEXTREL" not in tags and "TEXTREL" not in tags.get("FLAGS", ""))
    check("bound at load, never unloaded, symbols its own", "NOW" in tags.get("FLAGS_1", "")
          and "NODELETE" in tags.get("FLAGS_1", "") and ("SYMBOLIC" in tags or "SYMBOLIC" in tags.get("FLAGS", "")))
    # One pointer each: the compiler's frame_dummy and its counterpart.
    check("nothing of ours runs at load or unload", all(tags.get(tag, "8 (bytes)") == "8 (bytes)"
                                                        for tag in ("INIT_ARRAYSZ", "FINI_ARRAYSZ")))

    segments = output("readelf", "-lW", arguments.shim)
    stack = re.search(r"GNU_STACK.* (RW.?) ", segments)
    check("no executable stack", bool(stack) and "E" not in stack[1])
    check("relocated data is read-only", "GNU_RELRO" in segments)
    check("no thread-local storage", not re.search(r"^\s+TLS ", segments, flags=re.M))
    notes = output("readelf", "-nW", arguments.shim)
    check("carries the note by which the search knows it", bool(re.search(r"^\s+groupdnn\s+0x", notes, flags=re.M)))
    print(f"1..{checks}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
