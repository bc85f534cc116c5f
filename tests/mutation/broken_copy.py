#!/usr/bin/env python3
"""Writes a file of the product with all of its breaks put in: broken_copy.py FILE OUT

FILE is below the root of the source. For programs that need a defect that was put in on purpose, and not
all of them: NFSRDMA_BREAK chooses one.
"""
import pathlib
import sys

import breaks as data


def main():
    """Writes the copy; 1 when a break does not find its text."""
    if len(sys.argv) != 3:
        print(f"usage: {sys.argv[0]} FILE OUT", file=sys.stderr)
        return 2
    file, out = sys.argv[1], pathlib.Path(sys.argv[2])
    source = (data.ROOT / file).read_text()
    chosen = [one for one in data.read_all() if one.file == file]
    wrong = data.locate(chosen, source)
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    if wrong or not chosen:
        return 1
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(data.rewrite(chosen, source))
    return 0


if __name__ == "__main__":
    sys.exit(main())
