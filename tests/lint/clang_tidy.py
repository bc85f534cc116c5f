#!/usr/bin/env python3
"""clang-tidy finds nothing in the product's code; .clang-tidy says what it looks for.

    clang_tidy.py [FILE...]   these, or the source files that differ from the branch main
    clang_tidy.py --all       every source file of the four houses: 15 minutes on two cores"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def findings(build, source):
    # g++ has warnings that clang does not know: its word for that is not a finding.
    done = run("clang-tidy", "-p", build, "--quiet", "--warnings-as-errors=*",
               "--extra-arg=-Wno-unknown-warning-option", source)
    return done.stdout if done.returncode else ""


def main():
    if not shutil.which("clang-tidy"):
        print("SKIPPED: no clang-tidy")
        return SKIPPED
    houses = ["transport/*.cc", "client/*.cc", "cache/*.cc", "fuse/*.cc"]
    everything = sys.argv[1:] == ["--all"]
    if everything:
        sources = run("git", "ls-files", *houses).stdout.split()
    else:
        changed = run("git", "diff", "--name-only", "--diff-filter=d", "main", "--", *houses)
        sources = sys.argv[1:] or changed.stdout.split()
    # The flags for single files: the folders of the other presets have files of sixteen each.
    with tempfile.TemporaryDirectory(prefix="nfsrdma-clang-tidy-") as build:
        made = run("cmake", "-S", ".", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                   "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        if not made.returncode:  # version.cc includes what a build writes
            made = run("cmake", "--build", build, "--target", "nfsrdma_commit")
        if made.returncode:
            sys.exit(made.stdout + made.stderr)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = [text for text in pool.map(lambda source: findings(build, source), sources) if text]
    print("".join(found), end="")
    return 1 if found or (everything and not sources) else 0


if __name__ == "__main__":
    sys.exit(main())
