"""Lists the suspended coroutines of a daemon that hangs, in gdb:

    gdb -p PID -x tests/support/gdb_coroutines.py --batch

g++ begins the frame of a suspended coroutine with its resume function, `... [clone .actor]`, and its destroy function.
Frames of coroutines that have ended begin with something else. The heap is searched for such pairs of words."""

import collections
import re
import struct

import gdb

WORD = struct.calcsize("P")
NAME = re.compile(r"(?:\(anonymous namespace\)|[^(])*")


def regions(pid):
    """The writable anonymous mappings: the heap, and the arenas of threads."""
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            words = line.split()
            anonymous = len(words) == 5 or words[5] == "[heap]"
            if anonymous and words[1].startswith("rw"):
                yield [int(address, 16) for address in words[0].split("-")]


def symbol(address, cache={}):
    if address not in cache:
        text = gdb.execute(f"info symbol {address}", to_string=True)
        cache[address] = text.split(" in section")[0] if " in section" in text else ""
    return cache[address]


def suspended(process, code):
    """How many frames there are of each coroutine."""
    found = collections.Counter()
    for begin, end in regions(process.pid):
        memory = bytes(process.read_memory(begin, end - begin))
        words = struct.unpack(f"{len(memory) // WORD}P", memory)
        for resume, destroy in zip(words[::2], words[1::2]):
            if resume in code and destroy in code and symbol(destroy).endswith("[clone .destroy]"):
                found[symbol(resume)] += 1
    return found


def code_of(process):
    with open(f"/proc/{process.pid}/maps") as maps:
        program = [line.split() for line in maps if "r-xp" in line and line.rstrip().endswith("/nfsrdma")]
    begin, end = program[0][0].split("-")
    return range(int(begin, 16), int(end, 16))


gdb.execute("set print asm-demangle on")
this = gdb.selected_inferior()
for name, count in suspended(this, code_of(this)).most_common():
    print(f"{count:6} {NAME.match(name)[0]}")
