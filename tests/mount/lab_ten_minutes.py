#!/usr/bin/env python3
"""Does what a section of a man page says, word for word: writes its files, runs its commands in one shell in the current
folder, and compares what they print with the page. In the page's output numbers stand for any numbers, and ... for anything.

    lab_ten_minutes.py PAGE SECTION
"""
import pathlib
import re
import subprocess
import sys

PROLOGUE = r"""
set -m
end() { # of what a page that is not true leaves behind
  kill $(jobs -p)
  for each in $(findmnt -rno TARGET | grep "^$PWD/"); do fusermount3 -uqz "$each"; done
} 2>/dev/null
trap end EXIT
until_listening() { # as the page says: the next step is for when a program has said that it listens
  for _ in $(seq 200); do ! grep -qs listening "$1" || return 0; sleep 0.05; done
}
"""


def steps_of(page, section):
    """(command, [lines it prints]), and (None, (file, [lines])) for a file that the page shows."""
    text = page.split(f".SH {section}\n", 1)[1].split("\n.SH ", 1)[0]
    steps, named, block = [], "", None
    for line in text.splitlines():
        if line.startswith(".IR ") and line.endswith(":"):
            named = line.split()[1]
        if line == ".RS":
            block = []
        elif line == ".RE":
            steps += read_block(block, named)
            block = None
        elif block is not None:
            block.append(line.replace("\\-", "-").replace("\\&", ""))
    return steps


def read_block(lines, named):
    steps = []
    for line in lines:
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps:
            steps[-1][1].append(line)
    return steps or [(None, (named, lines))]


def script_of(steps):
    """The commands as one script; the output of the command N goes to out.N."""
    text = [PROLOGUE]
    for number, (command, _) in enumerate(steps):
        if command and command.endswith(" &"):
            text += [f"{command[:-2]} >out.{number} 2>&1 &", f"until_listening out.{number}"]
        elif command:
            text.append(f"{{ {command}; }} >out.{number} 2>&1")
    return "\n".join(text)


def pattern(line):
    """A regular expression for a line that the page shows."""
    words = re.escape(line).replace(re.escape("..."), ".*").replace(r"\ >\ ", r"\ .\ ")
    return re.sub(r"(\\ )+", r"\\s+", re.sub(r"\d+", r"\\d+", words)).lstrip()


def missing(printed, expected):
    """The first line of the page that was not printed behind the one before it; None: all were."""
    lines = iter(printed.splitlines())
    for line in expected:
        if not any(re.search(pattern(line), each) for each in lines):
            return line
    return None


def main():
    page, section = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2]
    steps = steps_of(page, section)
    for command, shown in steps:
        if command is None:
            pathlib.Path(shown[0]).write_text("\n".join(shown[1]) + "\n", encoding="utf-8")
    subprocess.run(["bash", "-c", script_of(steps)], check=False, timeout=120, stdin=subprocess.DEVNULL)
    wrong = 0
    for number, (command, shown) in enumerate(steps):
        if command is None:
            continue
        printed = pathlib.Path(f"out.{number}").read_text(encoding="utf-8", errors="replace")
        line = missing(printed, shown)
        if line is not None or (not shown and printed):
            wrong += 1
            print(f"$ {command}\n{printed}--- the page says: {line if line is not None else 'nothing'}")
    print(f"{sum(command is not None for command, _ in steps)} commands of {section}, {wrong} print other than the page says")
    return 1 if wrong or not steps else 0


if __name__ == "__main__":
    sys.exit(main())
