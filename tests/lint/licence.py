#!/usr/bin/env python3
"""Each file's licence can be found by programs: .reuse/dep5 says it for all of them in SPDX's words, its text is there,
the packages say the same, and no file says otherwise. `reuse lint`, where it is installed, agrees."""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LICENCE = "Apache-2.0"
# In two parts, so that this file does not say it of itself.
TAG = re.compile(rb"SPDX-License-" rb"Identifier:\s*([^\s*]+)")


def paragraphs(path):
    """The fields of each paragraph of a file in Debian's copyright format."""
    for block in re.split(r"\n\s*\n", path.read_text()):
        yield dict(re.findall(r"^(\w[\w-]*): *(.*)$", block, re.M))


def check_declarations():
    for name in (".reuse/dep5", "cmake/packages/copyright"):
        files = [each for each in paragraphs(ROOT / name) if "Files" in each]
        if [(each["Files"], each.get("License")) for each in files] != [("*", LICENCE)] or "Copyright" not in files[0]:
            yield f"{name}: does not say {LICENCE} of all files"
    text = ROOT / "LICENSES" / f"{LICENCE}.txt"
    if not text.exists() or text.read_bytes() != (ROOT / "LICENSE").read_bytes():
        yield f"{text.relative_to(ROOT)}: not the text of LICENSE"


def check_files():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, names):
        path = ROOT / name.decode()
        if path.is_symlink() or not path.is_file():
            continue
        for said in TAG.findall(path.read_bytes()):
            if said.decode(errors="replace") != LICENCE:
                yield f"{path.relative_to(ROOT)}: says {said.decode(errors='replace')}"


def check_reuse():
    if not shutil.which("reuse"):
        return
    done = subprocess.run(["reuse", "lint"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield f"reuse lint: {done.stdout[-2000:]}{done.stderr[-500:]}"


faults = [fault for check in (check_declarations, check_files, check_reuse) for fault in check()]
for each in faults:
    print(each, file=sys.stderr)
sys.exit(1 if faults else 0)
