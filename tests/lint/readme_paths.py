#!/usr/bin/env python3
"""Every file that a page (*.md) names exists: Markdown links, paths in backquotes, and for the pages of
the root also those in indented blocks. Each function that ARCHITECTURE.md names is in its file.

A path in backquotes is looked for below the page's folder, below the root and below the folders
above it, and a name without a folder also in those that its line names otherwise. `a/b.h`, `a_`, and
names with options or variables are no paths."""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WALK = pathlib.PurePosixPath("ARCHITECTURE.md")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
QUOTED = re.compile(r"`([A-Za-z0-9_.][A-Za-z0-9_./-]*)`")
PATTERN = re.compile(r"`([a-z][A-Za-z0-9_./-]*[*{][A-Za-z0-9_./*{},-]*|[a-z][a-z0-9_./-]*NAME[a-z0-9_.{},]*)`")
IN_BLOCK = re.compile(r"(?<![\w./-])((?:[a-z]+/)[A-Za-z0-9_./-]+)")
STEP = re.compile(r"`([A-Za-z0-9_./:]+?)(\(\))?`")
# What has such an ending is the name of a file of this repository, and so is what begins with one of
# its folders.
ENDINGS = (".cc", ".h", ".sh", ".py", ".md", ".tsv", ".cmake", ".json", ".7", ".8")


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [pathlib.PurePosixPath(name) for name in names.stdout.split()]


def is_path(word, top):
    # NAME_fuzz.cc stands for many: see matches().
    if word.startswith(("/", "build/")) or ".." in word or "NAME" in word:
        return False
    first, slash, _ = word.partition("/")
    return (slash and first in top) or word.endswith(ENDINGS)


def folders_of(line, readme):
    """The folders of the paths in backquotes of a line, as seen from the page's folder and from the root."""
    for word in QUOTED.findall(line):
        folder = word.rpartition("/")[0]
        if folder:
            yield from {os.path.normpath(above / folder) for above in (readme.parent, pathlib.PurePosixPath("."))}


def exists(word, readme, line, files, folders):
    for folder in [readme.parent, *readme.parent.parents]:
        place = folder / word
        if place in files or place in folders:
            return True
    # A bare name: of a folder below, or of one that the line names with another file.
    if "/" in word:
        return False
    below = any(name.name == word and readme.parent in name.parents for name in files)
    return below or any(pathlib.PurePosixPath(folder) / word in files for folder in folders_of(line, readme))


def matches(pattern, files):
    """Whether files are there for `a/b_*.h`, for each of `a/b.{h,cc}`, and for `a/NAME.cc`."""
    head, _, rest = pattern.partition("{")
    middle, _, tail = rest.partition("}")
    return all(fnmatch.filter(map(str, files), f"{head}{end}{tail}".replace("NAME", "*")) for end in middle.split(","))


def missing_functions(lines):
    """Functions of ARCHITECTURE.md, `name()`, that are not in the file named last before them."""
    path, text = None, ""
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(("#", "|")):
            path = None
        for word, call in STEP.findall(line):
            if not call and word.endswith((".cc", ".h")):
                path, text = word, both(ROOT / word)
            elif call and path and not re.search(rf"\b{word.rpartition(':')[2]}\(", text):
                yield f"{number}: {word}() in {path}"


def both(path):
    """A source file with the header of its name."""
    return "".join(file.read_text() for file in {path, path.with_suffix(".h")} if file.exists())


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
                if is_path(word, top) and not exists(word, readme, line, files, folders):
                    dead.append(f"{readme}:{number}: {word}")
            for word in PATTERN.findall(line):
                if word.partition("/")[0] in top and not matches(word, files):
                    dead.append(f"{readme}:{number}: {word}")
            if len(readme.parts) == 1 and line.startswith("    "):
                dead += [f"{readme}:{number}: {word}" for word in IN_BLOCK.findall(line)
                         if is_path(word, top) and not exists(word, readme, line, files, folders)]
    dead += [f"{WALK}:{line}" for line in missing_functions((ROOT / WALK).read_text().splitlines())]
    for line in dead:
        print(f"{line} does not exist")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
