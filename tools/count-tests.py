#!/usr/bin/env python3
"""count-tests.py JUNIT.xml...: counts the test cases that `meson test` ran, prints the sum as the last line and exits
with 1 if one failed. A program that ran no case counts as a failure: it proves nothing."""
import sys
import xml.etree.ElementTree as xml

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
            elif case.find("skipped") is not None:
                skipped += 1
                print("skipped:", name)
            else:
                passed += 1
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed or not passed else 0)
