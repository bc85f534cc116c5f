#!/usr/bin/env python3
"""Every header compiles by itself: headers.py [BUILD_FOLDER [--all]]

A header with a source file of its name is the first that it includes, so that a build of single files (preset debug)
shows what it lacks. The others are compiled here, each by itself; with --all every header is. Flags
are those of BUILD_FOLDER/compile_commands.json; its default is build/release."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# They refer to the class that has them as a member, whose header includes them.
EXCEPTIONS = {"open_inode.h", "open_view.h"}
SKIPPED = 77
FIRST_INCLUDE = re.compile(r"^#include (\S+)", re.M)


def compiler(build):
    """The compiler, the language and what finds headers."""
    commands = [shlex.split(entry["command"]) for entry in json.loads((build / "compile_commands.json").read_text())
                if entry["file"].endswith((".cc", ".cxx"))]
    flags = {}
    for words in commands:
        for word, following in zip(words, words[1:]):
            if word == "-isystem":
                flags[following] = f"-isystem{following}"
            elif word.startswith(("-I", "-D", "-std=")):
                name, _, value = word.partition("=")
                if word.startswith("-D") and str(ROOT) in value:
                    word = f'{name}="a path"'  # ccache knows what another clone has compiled
                flags.setdefault(name, word)  # one definition of each macro will do
    # -fsyntax-only is a fifth faster, and ccache does not keep its result.
    return [*caching(), commands[0][0], "-c", "-O0", f"-I{ROOT}", *flags.values()]


def caching():
    """What is before a compiler, as in cmake/."""
    ccache = shutil.which("ccache")
    return ["env", f"CCACHE_BASEDIR={ROOT}", "CCACHE_NOHASHDIR=1", ccache] if ccache else []


def compile_alone(command, folder, header):
    source = folder / f"{header}.cc"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(f'#include "{header}"\n')
    done = subprocess.run([*command, source, "-o", source.with_suffix(".o")], cwd=folder, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{header} does not compile by itself:\n{done.stderr}"


def main():
    build, everything = pathlib.Path([*sys.argv, ROOT / "build" / "release"][1]), "--all" in sys.argv[2:]
    if not (build / "compile_commands.json").exists():
        print(f"SKIPPED: {build} is not configured")
        return SKIPPED
    headers = subprocess.run(["git", "ls-files", "*.h"], cwd=ROOT, check=True, capture_output=True,
                             text=True).stdout.split()
    wrong, alone = [], []
    for header in headers:
        source = (ROOT / header).with_suffix(".cc")
        if source.exists():
            first = FIRST_INCLUDE.search(source.read_text())
            if not first or first[1] != f'"{header}"':
                wrong.append(f"{source.relative_to(ROOT)} does not include {header} first")
        if (everything or not source.exists()) and source.with_suffix(".h").name not in EXCEPTIONS:
            alone.append(header)
    command = compiler(build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong += filter(None, pool.map(lambda header: compile_alone(command, build / "headers", header), alone))
    for line in wrong:
        print(line)
    return 1 if wrong or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
