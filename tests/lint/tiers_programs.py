#!/usr/bin/env python3
"""Each GoogleTest program is built where continuous integration runs its tests.

CI builds the targets that tests/tiers names and no others. A test whose program is missing there fails as <program>_NOT_BUILT,
and on a machine where everything is built nobody sees it."""
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = re.compile(r"^\s*nfsrdma_test\((\w+)", re.MULTILINE)
LEAST = 30  # programs; fewer mean that this script does not understand the lists any more


def lines(word, tier):
    """What stands behind `word` in the lines of this file of tests/tiers."""
    text = (TESTS / "tiers" / tier).read_text(encoding="utf-8")
    return [line.split(" ", 1)[1] for line in text.splitlines() if line.startswith(word + " ")]


def matches(patterns, program):
    """Whether tests of this program are chosen: ctest calls them PROGRAM.SUITE.CASE, and under sanitizers PROGRAM."""
    return any(re.search(pattern, name) for pattern in patterns for name in (program, program + ".Suite.Case"))


def faults(programs):
    """Yields what is wrong with each program that CI does not build where it has to be."""
    in_release, in_asan = lines("build", "ci-release"), lines("build", "ci-asan")
    left_to_asan, run_by_asan = lines("test", "once-under-asan"), lines("test", "ci-asan")
    for program in programs:
        if program in in_release:
            continue
        if not matches(left_to_asan, program):
            yield f"{program} is neither built by tests/tiers/ci-release nor listed by once-under-asan"
        elif program not in in_asan:
            yield f"{program} is left to asan by once-under-asan, and not built by tests/tiers/ci-asan"
        elif not matches(run_by_asan, program):
            yield f"{program} is left to asan by once-under-asan, and not run by tests/tiers/ci-asan"


def main():
    lists = TESTS.rglob("CMakeLists.txt")
    programs = sorted(name for path in lists for name in PROGRAM.findall(path.read_text(encoding="utf-8")))
    wrong = list(faults(programs))
    if len(programs) < LEAST:
        wrong.append(f"only {len(programs)} programs found")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
