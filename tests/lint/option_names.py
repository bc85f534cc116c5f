#!/usr/bin/env python3
"""Every mount option that a message advises exists.

Looks for `name=` in the string literals of the program, and for the name in the tables of
fuse/options. Messages show their values by ": ", so that what has a "=" is an option."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"(?:\b(?:ignored|ignored_value|refused|flag|seconds|number|passed_on|with_value)\(\s*|"
                 r"\.name = )\"([^\"]+)\"")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
OPTION = re.compile(r"(?:^|[ ,(])([a-z][a-z0-9_]*)=")
# Not for mount, but for systemd and for fusermount3.
OTHERS = {"LimitMEMLOCK"}
# Prints formats of other programs.
FORMATS = ROOT / "fuse" / "ctl"


def main():
    names = set(OTHERS)
    for table in (ROOT / "fuse" / "options").glob("*_options.cc"):
        names |= set(ROW.findall(table.read_text()))
    wrong = []
    for layer in ("fuse", "cache", "client", "transport"):
        for source in sorted((ROOT / layer).rglob("*.cc")) + sorted((ROOT / layer).rglob("*.h")):
            if FORMATS in source.parents:
                continue
            for number, line in enumerate(source.read_text().splitlines(), 1):
                if line.lstrip().startswith(("//", "#include")):
                    continue
                for literal in LITERAL.findall(line):
                    for name in OPTION.findall(literal):
                        if name not in names:
                            wrong.append(f"{source.relative_to(ROOT)}:{number}: {name}=")
    for line in wrong:
        print(f"{line} is no option of the table")
    if len(names) < 100:
        print(f"only {len(names)} options found in the tables")
    return 1 if wrong or len(names) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
