#!/usr/bin/env python3
"""man/nfsrdma-counters.7 has every counter, and no others.

A counter is a name that is given to a CounterVisitor: `visitor.visit("NAME"`. Those of a provider get its name in front, those of
client/session/operation_times.cc are of each operation, and three tables of names have prefixes of their own. In the page a
counter is a tag (`.B`); a tag with a word in italics (`.BI`) stands for many."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "man" / "nfsrdma-counters.7"
RDMA = ROOT / "transport" / "rdma"
NAME = re.compile(r'visitor\.visit\(\s*"([a-z0-9_]+)"')
PREFIXED = re.compile(r'prefixed\.visit\("([a-z0-9_]+)"')
PATTERNS = {"errors_ OPERATION _ STATUS", "verbs_device_ NAME", "fuse_requests_ OPERATION"} | {
    f"nfs_ OPERATION _{time}_us" for time in ("queue", "rtt", "execute")}
LEAST = 150  # counters; fewer mean that this script does not understand the sources any more


def table(file, name):
    """The strings of an array."""
    text = (RDMA / file).read_text()
    text = text[text.index(name):]
    return re.findall(r'"(\w+)"', text[:text.index(";")])


def counted():
    names = set()
    for layer in ("fuse", "cache", "client", "transport"):
        for source in [*(ROOT / layer).rglob("*.cc"), *(ROOT / layer).rglob("*.h")]:
            provider = source.parent.name if source.parent.parent.name == "fabric" else ""
            prefix = provider + "_" if provider else ""
            names |= {prefix + name for name in NAME.findall(source.read_text())}
    kinds = table("counters.cc", "kProcNames") + table("counters.cc", "kOptionNames")
    names |= {f"{way}_{kind}" for way in ("sent", "received") for kind in kinds}
    properties = PREFIXED.findall((RDMA / "connection_counters.cc").read_text())
    return names | {f"{whose}_{name}" for whose in ("own", "server") for name in properties}


def patterns():
    times = (ROOT / "client" / "session" / "operation_times.cc").read_text()
    return PATTERNS | {f"nfs_ OPERATION _{name}" + (" STATUS" if name.endswith("_") else "")
                       for name in PREFIXED.findall(times)}


def main():
    tags, listed, after = set(), set(), False
    for line in PAGE.read_text().splitlines():
        if after and line.startswith(".BI "):
            tags.add(line[4:])
        if after and line.startswith(".B "):
            listed.add(line[3:])
        after = line in (".TP", ".TQ")
    known = {name for name in counted() if not name.endswith("_")}
    wrong = [f"not in the page: {name}" for name in sorted((known - listed) | (patterns() - tags))]
    wrong += [f"no counter: {name}" for name in sorted((listed - known) | (tags - patterns()))]
    for line in wrong:
        print(line)
    if len(known) < LEAST:
        print(f"only {len(known)} counters found")
    return 1 if wrong or len(known) < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
