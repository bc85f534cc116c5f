#!/usr/bin/env python3
"""Every co_await is a statement of its own.

g++ 12.2 miscompiles `if (co_await x)` and refuses or double-destroys awaits inside braced lists, so
only these shapes are allowed:  co_await x;   auto r = co_await x;   T r = co_await x;   r = co_await x;
co_return co_await x;   (void)co_await x;
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("transport", "client", "cache", "fuse", "tests")
ALLOWED = re.compile(
    r"^\s*(?:\(void\)\s*co_await\b"
    r"|co_return\s+co_await\b"
    r"|co_await\b"
    r"|(?:[\w:<>,&*\s\[\]]+?\s)?[\w.\->\[\]*()]+\s*=\s*co_await\b)"
)


def strip(text):
    """Removes comments and string contents, keeping line numbers."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda m: '""' if m[0][0] == '"' else "\n" * m[0].count("\n"), text, flags=re.S)


def statements(text):
    """Yields (line number, statement) for every statement that has a co_await."""
    for match in re.finditer(r"\bco_await\b", text):
        start = max(text.rfind(c, 0, match.start()) for c in ";{}")
        # A label or a branch without braces may stand before the statement.
        head = re.sub(r"^\s*(?:case [^:]*:|default:|else)\s*", "", text[start + 1 : match.end()])
        yield text.count("\n", 0, match.start()) + 1, head


def without_condition(head):
    """Takes a leading `if (...)` off, unless the co_await stands inside the parentheses."""
    match = re.match(r"\s*(?:if|while|for)\s*(?:constexpr\s*)?\(", head)
    if not match:
        return head
    depth, at = 1, match.end()
    while depth > 0:
        if at == len(head):
            return head
        depth += {"(": 1, ")": -1}.get(head[at], 0)
        at += 1
    return head[at:]


def main():
    bad = 0
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            for line, head in statements(strip(path.read_text())):
                if not ALLOWED.match(without_condition(head)):
                    print(f"{path.relative_to(ROOT)}:{line}: co_await is not a statement of its own")
                    bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
