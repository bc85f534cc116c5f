#!/usr/bin/env python3
"""Keeps files and functions readable: prints the longest ones and fails beyond the hard bounds. Those of
the product are narrower than those of tests.

Function lengths are counted from an opening line that ends in "{" at namespace or class level to its
closing brace, which needs the code to be formatted by clang-format (tests/lint/format.sh).
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOUSES = ("fuse/", "cache/", "client/", "transport/")
SHOWN = 8
# A line that opens a scope which is not a function.
SCOPE = re.compile(r"^\s*(namespace|class|struct|enum|union|extern|typedef)\b|=\s*\{$|^\s*\{$")


def functions(lines):
    """Yields (first line, length) of each function body at the outermost level it is defined on."""
    stack = []
    for number, line in enumerate(lines, 1):
        code = re.sub(r'"(?:\\.|[^"\\])*"|//.*', "", line)
        if code.rstrip().endswith("{") and not code.strip().startswith("}"):
            indent = len(code) - len(code.lstrip())
            stack.append((indent, number, not SCOPE.search(code) and "(" in "".join(
                lines[max(0, number - 6):number])))
        elif re.match(r"^\s*\}", code) and stack:
            indent = len(code) - len(code.lstrip())
            while stack and stack[-1][0] > indent:
                stack.pop()
            if stack and stack[-1][0] == indent:
                _, start, is_function = stack.pop()
                if is_function and not any(f for _, _, f in stack):
                    # One line a case or a field is a table, however long.
                    cases = sum(l.lstrip().startswith(("case ", "visit(FATTR4_")) for l in lines[start - 1:number])
                    yield start, number - start + 1 - cases


def show(title, rows, bound):
    """Prints the longest, and returns how many are beyond the bound."""
    lengths = [length for length, _ in rows]
    print(f"{title}: {len(rows)}, median {lengths[len(rows) // 2]}, "
          f"p90 {lengths[len(rows) // 10]}, longest {lengths[0]} lines (bound {bound})")
    for length, where in rows[:SHOWN]:
        print(f"  {length:4} {where}")
    return sum(length > bound for length in lengths)


def main():
    names = subprocess.run(["git", "ls-files", "*.cc", "*.h"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split()
    files, bodies = [], []
    for name in names:
        if not (ROOT / name).exists():  # removed, and not committed yet
            continue
        lines = (ROOT / name).read_text().splitlines()
        files.append((len(lines), name))
        bodies += [(length, f"{name}:{start}") for start, length in functions(lines)]
    bad = 0
    product = lambda where: where.startswith(HOUSES)
    rest = lambda where: not product(where)
    for title, rows, of, bound in (("files of the product", files, product, 400), ("files", files, rest, 600),
                                   ("functions of the product", bodies, product, 50), ("functions", bodies, rest, 80)):
        bad += show(title, sorted((row for row in rows if of(row[1])), reverse=True), bound)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
