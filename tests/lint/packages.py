#!/usr/bin/env python3
"""What is needed is in tests/packages.txt: a machine that has only those packages builds and tests everything.

tests/lint/programs.txt says which package has a program, or what CMake requires. Each REQUIRED of a CMakeLists.txt is in a package
of the group `build`; each program that a script calls, or asks for with `command -v`, is in the base system or in a package of
a group that is installed where the script runs. (The first words of commands are looked at. A word that is neither in
programs.txt nor a program of this machine is taken for something else.)"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import shell_words  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = "tests/lint/programs.txt"
PACKAGES = "tests/packages.txt"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# The groups of packages.txt that are installed where the scripts of a folder run; the first one is for new lines.
GROUPS = {"tests/quickstart": ("run", "build"), "cmake/": ("build", "run"), "tests/bench/": ("bench", "test", "run", "build"),
          "tests/interop/": ("interop", "test", "run", "build"), "tests/install/": ("install", "package", "test", "run", "build"),
          "tests/lint/": ("lint", "tidy", "test", "run", "build"), "tests/programs/": ("programs", "test", "run", "build")}
OTHERS = ("test", "run", "build")
# Scripts of another system than the one with packages.txt: a guest, an installed one.
ELSEWHERE = ("tests/interop/guest/inside/", "tests/install/in_clean_system.sh", "tests/install/boot.sh")
REQUIRED = re.compile(r"\b(find_package|find_program|find_library|pkg_check_modules)\(([^)]*)\bREQUIRED\b([^)]*)\)")
LEFT_OUT = re.compile(r"nfsrdma_left_out\((?:\"[^\"]*\"|\S+) ([a-z][\w.+-]*)\)")
LEAST = 60  # programs; fewer mean that this script does not understand scripts any more


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return names.stdout.split()


def lines(path):
    return [line.split() for line in (ROOT / path).read_text().splitlines() if line.strip() and not line.startswith("#")]


def is_shell(name, text):
    return name.endswith(".sh") or re.match(r"#!.*\b(ba)?sh\b", text) is not None


def texts():
    for name in tracked():
        path = ROOT / name
        if path.suffix in ("", ".sh", ".txt", ".cmake") and path.is_file():
            yield name, path.read_text(errors="replace")


def required(text):
    """(line, word) of what a CMakeLists.txt requires."""
    for match in REQUIRED.finditer(text):
        kind, before, after = match.groups()
        words = (after if kind == "pkg_check_modules" else before).split()
        word = words[-1] if kind in ("pkg_check_modules", "find_program", "find_library") else words[0]
        yield text.count("\n", 0, match.start()) + 1, "find:" + re.split("[<>=]", word)[0]


class Lists:
    """packages.txt and programs.txt."""

    def __init__(self):
        self.groups = {}
        for group, package in lines(PACKAGES):
            self.groups.setdefault(package, set()).add(group)
        self.package = {word: line[0] for line in lines(PROGRAMS) for word in line[1:]}

    def fault(self, word, allowed):
        """Nothing, or what is wrong with a word where these groups are installed (none: any)."""
        package = self.package.get(word)
        if package is None:
            return f"add it to {PROGRAMS}: 'PACKAGE {word}'" + hint(word)
        groups = self.groups.get(package, set())
        if package == "base" or (groups if not allowed else groups & set(allowed)):
            return None
        group = allowed[0] if allowed else "test"
        return f"add its package to {PACKAGES}: '{group} {package}'"


def hint(word):
    """The package that has a program of this machine."""
    path = shutil.which(word, path=PATH)
    if not path or not shutil.which("dpkg-query"):
        return ""
    tail = path.removeprefix("/usr")
    said = subprocess.run(["dpkg-query", "-S", path, tail, "/usr" + tail], capture_output=True, text=True, check=False).stdout
    return f" (here it is of the package {said.split(':')[0]})" if said else ""


def faults_of_cmake(lists, name, text):
    for number, word in required(text):
        fault = lists.fault(word, ("build",))
        if fault:
            yield f"{name}:{number}: {word} is required to configure: {fault}"
    for package in LEFT_OUT.findall(text):
        if "test" not in lists.groups.get(package, ()):
            yield f"{name}: {package} is missing in {PACKAGES}: 'test {package}'"


def faults_of_script(lists, own, name, text):
    """What is wrong with each program, at its first place."""
    groups = next((groups for folder, groups in GROUPS.items() if name.startswith(folder)), OTHERS)
    optional = set(shell_words.ASKED_FOR.findall(text))
    seen = set(own)
    for number, word in shell_words.calls(text):
        if word in seen:
            continue
        seen.add(word)
        if word in lists.package or word in optional or shutil.which(word, path=PATH):
            # Without a program that is asked for the script skips or does less: any group will do.
            fault = lists.fault(word, () if word in optional else groups)
            if fault:
                yield f"{name}:{number}: the program {word}: {fault}"


def main():
    lists = Lists()
    builtins = subprocess.run(["bash", "-c", "compgen -b"], capture_output=True, text=True, check=True).stdout.split()
    found = list(texts())
    scripts = [(name, text) for name, text in found if is_shell(name, text) and not name.startswith(ELSEWHERE)]
    # Functions of libraries that scripts source.
    own = set(builtins).union(*(shell_words.functions(text) for _, text in scripts)) - set(lists.package)
    wrong = [f"{PROGRAMS}: {package} is not in {PACKAGES}" for package in sorted(set(lists.package.values()) - set(lists.groups) - {"base"})]
    for name, text in found:
        if name.endswith((".cmake", "CMakeLists.txt")):
            wrong += faults_of_cmake(lists, name, text)
    for name, text in scripts:
        wrong += faults_of_script(lists, own, name, text)
    programs = {word for _, text in scripts for _, word in shell_words.calls(text)} & set(lists.package)
    if len(programs) < LEAST:
        wrong.append(f"only {len(programs)} programs found")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
