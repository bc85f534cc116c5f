"""The breaks: read from breaks/*.txt, looked for in the source, and put into it.

A break is written as

    [word] path/of/file.cc
    what it breaks
    - the text it is about, in one or more lines, found exactly once in the file
    + what is there instead

Lines that begin with "<" and ">" are what stands before and behind the text, where the text alone is
not the only one. Its name is path/of/file:word. The marks of the last lines say what becomes of the text:
    "+"   an expression becomes another one
    "="   statements become others (none: they are skipped)
"""
import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOUSES = ("client", "cache", "fuse", "transport")


@dataclasses.dataclass
class Break:
    """One change of the source, and where in its file it goes."""
    name: str
    house: str
    file: str
    word: str
    text: str
    mark: str
    instead: str
    beside: tuple
    start: int = 0
    end: int = 0
    lines: tuple = (0, 0)  # of the rewritten file


def read_block(house, block):
    """The break that the lines of `block` describe."""
    head = re.fullmatch(r"\[([\w.-]+)\] (\S+)", block[0])
    if not head or len(block) < 4:
        raise ValueError(f"{house}.txt: not a break: {block[0]}")
    part = {mark: "\n".join(line[2:] for line in block[2:] if line[:1] == mark) for mark in "<->+="}
    marks = {line[:1] for line in block[2:]} - set("-<>")
    if len(marks) != 1 or not marks <= {"+", "="}:
        raise ValueError(f"{house}.txt: {head[1]}: one of + and = says what is there instead")
    mark = marks.pop()
    name = f"{head[2].rsplit('.', 1)[0]}:{head[1]}"
    return Break(name, house, head[2], block[1], part["-"], mark, part[mark], (part["<"], part[">"]))


def read_all():
    """All breaks of the four houses."""
    found = []
    for house in HOUSES:
        path = HERE / "breaks" / f"{house}.txt"
        block = []
        for line in path.read_text().splitlines() + [""]:
            if line.startswith("#"):
                continue
            if line.strip():
                block.append(line)
            elif block:
                found.append(read_block(house, block))
                block = []
    return found


def read_known():
    """The names of known.txt: changes that no test can notice, each with its reason."""
    found = {}
    for line in (HERE / "breaks" / "known.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, reason = line.split(" ", 1)
            found[name] = reason
    return found


def pattern_of(text):
    """Lines may be indented in the file as they like."""
    return r"\n\s*".join(re.escape(line.strip()) for line in text.split("\n"))


def locate(breaks, source):
    """Sets where each break of one file is; returns what is wrong."""
    wrong = []
    for one in breaks:
        before, behind = map(pattern_of, one.beside)
        pattern = rf"{before}\s*({pattern_of(one.text)})\s*{behind}"
        places = [match.span(1) for match in re.finditer(pattern, source)]
        if len(places) != 1:
            wrong.append(f"{one.name}: its text is in {one.file} {len(places)} times: {one.text}")
            continue
        one.start, one.end = places[0]
        if one.mark == "+" and "co_await" in one.text + one.instead:
            wrong.append(f"{one.name}: co_await in an expression is miscompiled; use =")
        if one.mark == "=" and re.match(r"(auto|const)\b", one.text):
            wrong.append(f"{one.name}: what is declared would end with the choice")
    return wrong


def check(breaks, root=ROOT):
    """Locates all breaks below `root`; returns what is wrong."""
    wrong, names = [], set()
    for one in breaks:
        if one.name in names:
            wrong.append(f"{one.name}: there are two of that name")
        names.add(one.name)
        if not one.file.startswith(one.house + "/"):
            wrong.append(f"{one.name}: {one.file} is not of {one.house}")
    wrong += [f"known.txt: no break is called {name}" for name in read_known() if name not in names]
    for file in sorted({one.file for one in breaks}):
        if not (root / file).exists():
            wrong.append(f"{file}: no such file")
            continue
        wrong += locate([one for one in breaks if one.file == file], (root / file).read_text())
    return wrong


def put(one, inside):
    """The text of a break with its choice; `inside` is the text, other breaks put in already."""
    condition = f'NFSRDMA_BROKEN("{one.name}")'
    if one.mark == "+":
        return f"({condition} ? ({one.instead}) : ({inside}))"
    instead = f" else {{ {one.instead} }}" if one.instead.strip() else ""
    return f"{{ if (!{condition}) {{ {inside} }}{instead} }}"


def rewrite(breaks, source):
    """`source` with all `breaks` of that file. One may lie inside of another."""
    order = sorted(breaks, key=lambda one: (one.start, -one.end))

    def emit(start, end, pending):
        text, at = "", start
        while pending and pending[0].start < end:
            one = pending.pop(0)
            if one.end > end:
                raise ValueError(f"{one.name} overlaps another break")
            text += source[at:one.start]
            text += put(one, emit(one.start, one.end, pending))
            at = one.end
        return text + source[at:end]

    text = '#include "tests/mutation/break.h"\n' + emit(0, len(source), order)
    for one in breaks:
        at = text.index(f'NFSRDMA_BROKEN("{one.name}")')
        first = text.count("\n", 0, at) + 1
        one.lines = (first, first + one.text.count("\n") + one.instead.count("\n"))
    return text
