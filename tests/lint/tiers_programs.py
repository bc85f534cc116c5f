#!/usr/bin/env python3
"""Each GoogleTest program is built where continuous integration runs its tests.

CI builds the targets that tests/tiers names and no others. A test whose program is missing there fails as <program>_NOT_BUILT,
and on a machine where everything is built nobody sees it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = re.compile(r"^\s*nfsrdma_test\((\w+)", re.MULTILINE)


def lines(word, *tiers):
    """What stands behind `word` in the lines of these files of tests/tiers."""
    texts = [(ROOT / "tests" / "tiers" / tier).read_text(encoding="utf-8") for tier in tiers]
    return [line.split(" ", 1)[1] for text in texts for line in text.splitlines() if line.startswith(word + " ")]


def matches(patterns, program):
    return any(re.search(pattern, program + ".Suite.Test") or re.search(pattern, program) for pattern in patterns)


def fault(program):
    """Where this program is missing; None: it is where it has to be."""
    if program in lines("build", "ci-release"):
        return None
    if not matches(lines("test", "once-under-asan"), program):
        return "is neither built by tests/tiers/ci-release nor listed by once-under-asan"
    if program not in lines("build", "ci-asan"):
        return "is left to asan by once-under-asan, and not built by tests/tiers/ci-asan"
    if not matches(lines("test", "ci-asan"), program):
        return "is left to asan by once-under-asan, and not run by tests/tiers/ci-asan"
    return None


def main():
    lists = (ROOT / "tests").rglob("CMakeLists.txt")
    programs = sorted(name for path in lists for name in PROGRAM.findall(path.read_text(encoding="utf-8")))
    faults = {name: fault(name) for name in programs}
    for name, what in faults.items():
        if what:
            print(f"{name} {what}")
    if len(programs) < 30:
        print(f"only {len(programs)} programs are found: nfsrdma_test() seems to have another name")
    return 0 if len(programs) >= 30 and not any(faults.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
