"""The programs that a shell script calls, as far as its text says so: the first word of each command."""
import re

# What may stand before a command, and is none.
KEYWORDS = {"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "case", "esac", "for", "in", "select", "function",
            "{", "}", "!", "time", "exec", "command", "builtin", "eval"}
# Programs whose operand is a program, with the letters of theirs that take a value.
WRAPPERS = {"env": "uCS", "timeout": "ks", "nohup": "", "nice": "n", "setsid": "", "sudo": "u", "xargs": "nPIdLas", "stdbuf": "ioe"}
WORD = re.compile(r"[^\s;&|()<>`$\"'\\#]+")
HEREDOC = re.compile(r"<<(-?)\s*(\\?)(['\"]?)([A-Za-z_][A-Za-z_0-9]*)\3")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(\[[^]]*\])?\+?=")
FUNCTION = re.compile(r"^\s*(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)", re.MULTILINE)
ASKED_FOR = re.compile(r"command -v ([a-z][\w.+-]*)")
NEXT = re.compile(r"[;&|()<>`$\"'\\#\n]|[ \t]+|[^;&|()<>`$\"'\\#\s]+")


def functions(text):
    """The names of the functions that a script defines."""
    return set(FUNCTION.findall(text))


class Scanner:
    """Goes through the text once; `found` gets (offset, word) for each command."""

    def __init__(self, text):
        self.text, self.at, self.found, self.heredocs = text, 0, [], []

    def commands(self, end):
        """Commands up to `end`: the text's end (""), a parenthesis or a backquote."""
        first, wrapper, cases = True, None, 0
        while self.at < len(self.text):
            begin, token = self.at, NEXT.match(self.text, self.at)
            piece = token.group()
            self.at = token.end()
            if piece == end and not (end == ")" and cases and self.in_pattern(begin)):
                return
            if piece == "\n":
                self.skip_heredocs()
                first, wrapper = True, None
            elif piece in ";&|(":
                if piece == "(" and self.text.startswith("(", self.at) and first:
                    self.skip_past("))")
                first, wrapper = True, None
            elif piece == ")":
                first, wrapper = True, None
            elif piece == "#" and (begin == 0 or self.text[begin - 1] in " \t\n;("):
                self.skip_to_line_end()
            elif piece in "\"'`$\\#":
                self.quoted(piece)
                if not self.text[begin - 1:begin].isspace() and begin > 0:
                    continue  # within a word
                first = False if wrapper is None else first
            elif piece in "<>":
                self.redirection(begin)
            elif piece.isspace():
                continue
            elif begin > 0 and self.text[begin - 1] in "\"'`$\\#}" or (begin > 0 and self.text[begin - 1] == ")"):
                continue  # goes on after a quotation
            elif first:
                first, wrapper, cases = self.word(begin, piece, wrapper, cases)

    def word(self, begin, piece, wrapper, cases):
        """A word where a command begins: whether the next one is still such a place, the wrapper it is of, open cases."""
        if ASSIGNMENT.match(piece):
            return True, wrapper, cases
        if piece == "[[":
            self.skip_past("]]")
            return False, None, cases
        if piece in ("case", "for", "select"):
            cases += piece == "case"
            return False, None, cases
        if piece == "esac":
            return True, None, max(0, cases - 1)
        if piece in KEYWORDS:
            return True, None, cases
        if wrapper is not None and (piece.startswith("-") or re.match(r"[0-9.]+[smhd]?$", piece)):
            if piece.startswith("-") and piece[-1] in WRAPPERS[wrapper] and not piece.startswith("--"):
                self.skip_word()
            return True, wrapper, cases
        # PATTERN) of a case is none.
        if not self.in_pattern(begin):
            self.found.append((begin, piece))
        return (True, piece, cases) if piece in WRAPPERS else (False, None, cases)

    def in_pattern(self, begin):
        """Whether what begins here is the pattern of a case: a word, or several with `|`, before a parenthesis."""
        line = self.text.rfind("\n", 0, begin) + 1
        end = self.text.find("\n", begin)
        return re.match(r"\s*\(?[^\s()$`]+(\s*\|\s*[^\s()$`]+)*\)", self.text[line:end if end >= 0 else None]) is not None

    def skip_word(self):
        match = re.compile(r"[ \t]+[^\s;&|]+").match(self.text, self.at)
        if match:
            self.at = match.end()

    def skip_past(self, mark):
        end = self.text.find(mark, self.at)
        # What is called within counts.
        for call in re.finditer(r"\$\((?!\()\s*([a-z][\w.+-]*)", self.text[self.at:end if end >= 0 else None]):
            self.found.append((self.at + call.start(1), call.group(1)))
        self.at = len(self.text) if end < 0 else end + len(mark)

    def skip_to_line_end(self):
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def redirection(self, begin):
        heredoc = HEREDOC.match(self.text, begin)
        if heredoc and not self.text.startswith("<<<", begin):
            self.heredocs.append(heredoc.group(4))
            self.at = heredoc.end()
            return
        match = re.compile(r"[<>&]*[ \t]*(?:[0-9]+|-|[^\s;&|()<>`$\"']*)").match(self.text, begin)
        if self.text.startswith(("<(", ">("), begin):
            self.at = begin + 2
            self.commands(")")
        else:
            self.at = max(match.end(), begin + 1)

    def skip_heredocs(self):
        for mark in self.heredocs:
            end = re.compile(rf"^\t*{mark}$", re.MULTILINE).search(self.text, self.at)
            self.at = end.end() if end else len(self.text)
        self.heredocs = []

    def quoted(self, mark):
        text = self.text
        if mark == "\\":
            self.at += 1
        elif mark == "'":
            self.at = text.find("'", self.at) + 1 or len(text)
        elif mark == "`":
            self.commands("`")
        elif mark == "$":
            self.substitution()
        elif mark == '"':
            while self.at < len(text) and text[self.at] != '"':
                char = text[self.at]
                self.at += 2 if char == "\\" else 1
                if char == "$":
                    self.substitution()
            self.at += 1

    def substitution(self):
        """After a dollar."""
        text = self.text
        if text.startswith("((", self.at):
            self.at += 2
            self.skip_past("))")
        elif text.startswith("(", self.at):
            self.at += 1
            self.commands(")")
        elif text.startswith("{", self.at):
            depth = 0
            while self.at < len(text):
                char = text[self.at]
                self.at += 1
                depth += (char == "{") - (char == "}")
                if depth == 0:
                    return
        elif text.startswith("'", self.at):
            end = re.compile(r"(?:[^'\\]|\\.)*'").match(text, self.at + 1)
            self.at = end.end() if end else len(text)


def calls(text):
    """(line, program) for each command that begins with a plain name, and for what `command -v` asks for."""
    scanner = Scanner(text)
    scanner.commands("")
    found = scanner.found + [(match.start(1), match.group(1)) for match in ASKED_FOR.finditer(text)]
    own = functions(text)
    return [(text.count("\n", 0, at) + 1, word) for at, word in found
            if re.fullmatch(r"[a-z][\w.+-]*", word) and word not in own]
