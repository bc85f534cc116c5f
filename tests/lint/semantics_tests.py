#!/usr/bin/env python3
"""Every statement of man/nfsrdma-semantics.7 names the tests that show it, and those tests exist.

A statement is a paragraph `.IP` of a section other than those in OTHER. Its last lines are
`.RI [ TEST ", " TEST ]`, continued by `.IR`; a TEST is a script below tests/ or a case of GoogleTest."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
PAGE = ROOT / "man" / "nfsrdma-semantics.7"
OTHER = {"NAME", "DESCRIPTION", "SEE ALSO"}
CASE = re.compile(r"\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)")
LEAST = 50  # statements; fewer mean that this script does not understand the page any more


def cases():
    return {".".join(case) for source in TESTS.rglob("*.cc") for case in CASE.findall(source.read_text())}


def statements(lines):
    """Yields (line number, tests named) of each statement."""
    section, start, names, listing = "", 0, [], False
    for number, line in enumerate([*lines, ".SH end"], 1):
        if line.startswith((".SH ", ".IP", ".PP", ".TP")):
            if start:
                yield start, names
            section = line[4:] if line.startswith(".SH ") else section
            start, names, listing = 0 if line.startswith(".SH ") or section in OTHER else number, [], False
            continue
        if line.startswith(".RI [ "):
            listing, line = True, line[len(".RI [ "):]
        if listing:
            names += re.findall(r"[\w./]+", line.removeprefix(".IR ").replace('", "', " ").replace('", ', " "))
            listing = not line.endswith("]")


def main():
    known, wrong, count = cases(), [], 0
    for number, names in statements(PAGE.read_text().splitlines()):
        count += 1
        if not names:
            wrong.append(f"{number}: a statement without a test")
        for name in names:
            if name not in known and not (name.endswith(".sh") and (TESTS / name).is_file()):
                wrong.append(f"{number}: no test {name}")
    for line in wrong:
        print(f"{PAGE.relative_to(ROOT)}:{line}")
    if count < LEAST:
        print(f"only {count} statements found")
    return 1 if wrong or count < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
