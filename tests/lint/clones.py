#!/usr/bin/env python3
"""The compiler sees the same text of a test in two clones of the sources, so that ccache finds what one has compiled for the other:
no check of GoogleTest, which tells its file, has the folder of the clone in it.

    tests/lint/clones.py BUILD
"""
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "base_test"  # any: the way it is compiled is the one of all


def main(build):
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    entry = next(entry for entry in commands if f"/{PROGRAM}.dir/" in entry["command"])
    command = shlex.split(entry["command"])
    output = command.index("-o")
    command[output:output + 2] = ["-E", "-P"]
    text = subprocess.run(command, cwd=entry["directory"], check=True, capture_output=True, text=True).stdout
    found = next((line for line in text.splitlines() if str(ROOT) in line), None)
    if found:
        return f"{PROGRAM}: another clone would compile this again: {found.strip()[:200]}"
    return None if '"tests/transport/base/' in text else f"{PROGRAM}: no check tells its file"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
