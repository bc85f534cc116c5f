#!/usr/bin/env python3
"""Every file that a README names exists: Markdown links, and paths in backquotes.

A path in backquotes is looked for below the README's folder, below the root and below the folders
above it; `a/b.h`, `a_`, and names with wildcards, options or variables are no paths."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
QUOTED = re.compile(r"`([A-Za-z0-9_.][A-Za-z0-9_./-]*)`")
# What has such an ending is the name of a file of this repository, and so is what begins with one of
# its folders.
ENDINGS = (".cc", ".h", ".sh", ".py", ".md", ".tsv", ".cmake", ".json", ".7", ".8")


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [pathlib.PurePosixPath(name) for name in names.stdout.split()]


def is_path(word, top):
    # NAME_fuzz.cc stands for many.
    if word.startswith(("/", "build/")) or ".." in word or "NAME" in word:
        return False
    first, slash, _ = word.partition("/")
    return (slash and first in top) or word.endswith(ENDINGS)


def exists(word, readme, files, folders):
    for folder in [readme.parent, *readme.parent.parents]:
        place = folder / word
        if place in files or place in folders:
            return True
    # `reply.h` of a folder that the sentence has named before, or a name that several folders have.
    return "/" not in word and any(name.name == word for name in files)


def main():
    files = set(tracked())
    folders = {folder for name in files for folder in name.parents}
    top = {name.parts[0] for name in files if len(name.parts) > 1}
    dead = []
    for readme in sorted(name for name in files if name.suffix == ".md"):
        for number, line in enumerate((ROOT / readme).read_text().splitlines(), 1):
            for link in LINK.findall(line):
                if "://" not in link and not (ROOT / readme.parent / link).exists():
                    dead.append(f"{readme}:{number}: {link}")
            for word in QUOTED.findall(line):
                if is_path(word, top) and not exists(word, readme, files, folders):
                    dead.append(f"{readme}:{number}: {word}")
    for line in dead:
        print(f"{line} does not exist")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
