#!/usr/bin/env python3
"""Every warning and error of the program, and every remedy that it advises, has an entry in man/nfsrdma-messages.7,
and the page has no others.

A message is the format string of a call that logs at level warning or error. In the page it is the tag of a paragraph
(`.TP`), with a word in italics for each thing that is filled in. Strings of nothing but what is filled in are errors of
functions: the section STEPS tells about those. A remedy is a sentence of fuse/daemon/failure.cc, or of what
fuse/channel/mount_point.cc says of /dev/fuse and of mounting."""

import pathlib
import re
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "man" / "nfsrdma-messages.7"
LAYERS = ("fuse", "cache", "client", "transport")
CALL = re.compile(r"(?:log::(?:warning|error)|\b\w*(?:lines_?|lines\(\))\.warning)\(")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
RUN = re.compile(rf"(?:{LITERAL.pattern}\s*)+")
FIELD = re.compile(r"\{[^}]*\}")
SECTIONS = ("MESSAGES", "REMEDIES")
LEAST_REMEDY = 20  # characters; what is shorter is no sentence
LEAST = 40  # messages; fewer mean that this script does not understand the sources any more


def call_text(text, start):
    """The arguments of the call whose "(" ends at `start`."""
    depth, at = 1, start
    while depth:
        literal = LITERAL.match(text, at)
        if literal:
            at = literal.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start:at]


def strings(arguments):
    """The adjoining literals of the first argument that is one."""
    first = LITERAL.search(arguments)
    joined, at = "", first.start() if first else len(arguments)
    while (literal := LITERAL.match(arguments, at)):
        joined += literal.group(1)
        at = literal.end() + len(arguments[literal.end():]) - len(arguments[literal.end():].lstrip())
    return joined


def logged():
    """message -> place"""
    found = {}
    for layer in LAYERS:
        for source in sorted((ROOT / layer).rglob("*.cc")) + sorted((ROOT / layer).rglob("*.h")):
            text = source.read_text()
            for call in CALL.finditer(text):
                message = FIELD.sub("{}", strings(call_text(text, call.end())))
                if re.search("[a-z]", message):
                    line = text.count("\n", 0, call.start()) + 1
                    found.setdefault(message, f"{source.relative_to(ROOT)}:{line}")
    return found


def remedies():
    """The sentences among the strings of the two tables, and of the check of /dev/fuse."""
    command = (ROOT / "fuse" / "daemon" / "failure.cc").read_text()
    mount = (ROOT / "fuse" / "channel" / "mount_point.cc").read_text()
    texts = [command[command.index("kCheckRoute"):command.index("kUnreachable[]")]]
    texts += re.findall(r"\(\s*Error::local\((?:EACCES|errno), kDevice,(.*?)\)\)", mount, re.S)
    table = mount[mount.index("constexpr Remedy kRemedies"):]
    texts += re.findall(r"\{\"[^\"]*\", E\w+,(.*?)\}", table[:table.index("};\n")], re.S)
    said = {"".join(LITERAL.findall(run.group())) for text in texts for run in RUN.finditer(text)}
    return {text for text in said if len(text) > LEAST_REMEDY}


def plain(text):
    return text.replace("\\-", "-").replace("\\(aq", "'").replace("\\(dq", '"').replace("\\e", "\\").replace("\\&", "")


def entries():
    """section -> message -> line of the page"""
    found, section, tag = {name: {} for name in SECTIONS}, "", False
    for number, line in enumerate(PAGE.read_text().splitlines(), 1):
        if line.startswith(".SH "):
            section = line[4:]
        if tag and section in found:
            macro, *words = shlex.split(plain(line))
            filled = [("{}" if macro == ".BI" and i % 2 == 1 or macro == ".IB" and i % 2 == 0 else word)
                      for i, word in enumerate(words)]
            found[section]["".join(filled) if macro in (".BI", ".IB") else " ".join(words)] = number
        tag = line in (".TP", ".TQ")
    return found


def main():
    messages, listed, told = logged(), entries(), remedies()
    wrong = [f"{place}: no entry for: {message}" for message, place in messages.items()
             if message not in listed["MESSAGES"]]
    wrong += [f"no entry for the remedy: {remedy}" for remedy in sorted(told) if remedy not in listed["REMEDIES"]]
    for section, known in (("MESSAGES", messages), ("REMEDIES", told)):
        wrong += [f"{PAGE.name}:{number}: the program does not say: {entry}"
                  for entry, number in listed[section].items() if entry not in known]
    for line in wrong:
        print(line)
    if len(messages) < LEAST or len(told) < LEAST // 4:
        print(f"only {len(messages)} messages and {len(told)} remedies found")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
