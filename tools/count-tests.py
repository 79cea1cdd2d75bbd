#!/usr/bin/env python3
"""count-tests.py JUNIT.xml...: counts the test cases that `meson test` ran, prints those that failed with the end of
what they said, and the sum as the last line; exits with 1 if one failed. A program that ran no case counts as a
failure: it proves nothing."""
import sys
import xml.etree.ElementTree as xml

SAID = 12


def said(suite, case):
    """The last lines of what a test case printed under its "not ok" line; of one without, of its program."""
    lines = [line for name in ("system-out", "system-err") for line in (suite.findtext(name) or "").splitlines()]
    begin = [i for i, line in enumerate(lines) if line.startswith("not ok " + case.get("name").split()[0] + " ")]
    if begin:
        lines = lines[begin[0] + 1:]
        end = [i for i, line in enumerate(lines) if not line.startswith("#")]
        lines = lines[:end[0]] if end else lines
    return [line[:300] for line in lines if line.strip("# ")][-SAID:]


passed = failed = skipped = 0
for path in sys.argv[1:]:
    for suite in xml.parse(path).getroot().iter("testsuite"):
        cases = suite.findall("testcase")
        if not cases:
            failed += 1
            print(f"{path}: {suite.get('name')}: no test case ran")
        for case in cases:
            name = f"{path}: {suite.get('name')}: {case.get('name')}"
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                print("failed:", name)
                print(*("    " + line for line in said(suite, case)), sep="\n")
            elif case.find("skipped") is not None:
                skipped += 1
                print("skipped:", name)
            else:
                passed += 1
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed or not passed else 0)
