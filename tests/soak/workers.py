"""What people do with files. Each worker repeats its round in a directory of its own until the time is over; a round that
does not end as it would on a local disk is a failure, and the worker's last."""
import filecmp
import hashlib
import os
import shutil
import sqlite3
import subprocess
import time


def run(*words, cwd=None):
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, errors="replace", check=False,
                          env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"})
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


def same_trees(one, other):
    compared = filecmp.dircmp(one, other)
    pending = [compared]
    while pending:
        each = pending.pop()
        differing = filecmp.cmpfiles(each.left, each.right, each.common_files, shallow=False)
        wrong = each.left_only + each.right_only + differing[1] + differing[2]
        if wrong:
            raise RuntimeError(f"{each.left} and {each.right} differ: {wrong[:5]}")
        pending += each.subdirs.values()


class Worker:
    unit = "rounds"

    def __init__(self, mounts, scratch):
        self.name = type(self).__name__.lower()
        self.mine, self.other = (os.path.join(mount, self.name) for mount in mounts)
        self.scratch = os.path.join(scratch, self.name)
        self.rounds = self.units = 0
        self.failures = []

    def run(self, end):
        try:
            os.makedirs(self.mine)
            os.makedirs(self.scratch)
            self.begin()
            while time.monotonic() < end:
                self.round()
                self.rounds += 1
            self.finish()
        except Exception as failure:  # pylint: disable=broad-except
            self.failures.append(f"{type(failure).__name__}: {failure} {getattr(failure, 'sqlite_errorname', '')}".rstrip())

    def begin(self):
        """Once."""

    def finish(self):
        """Once, when the time is over."""


def list_anew(top):
    """A name that the other mount has made may be missing for a while where its directory was listed before: find does
    that. A new listing of each directory, those above first, ends it."""
    above = os.path.dirname(top)
    os.listdir(os.path.dirname(above))
    os.listdir(above)
    for _ in os.walk(top):
        pass


class Git(Worker):
    """Commits here; the other mount clones, and finds every object."""
    unit = "commits"
    COMMITS = 5

    def git(self, *words, where=None):
        return run("git", "-c", "user.name=soak", "-c", "user.email=soak@example.org", "-c", "safe.directory=*",
                   *words, cwd=where or os.path.join(self.mine, "repository"))

    def begin(self):
        self.git("init", "-q", "repository", where=self.mine)

    def round(self):
        for number in range(self.COMMITS):
            with open(os.path.join(self.mine, "repository", f"file{self.units % 40}"), "w") as file:
                file.write(f"{self.rounds} {number}\n" * 500)
            self.git("add", "-A")
            self.git("commit", "-qm", f"{self.rounds}.{number}")
            self.units += 1
        clone = os.path.join(self.scratch, "clone")
        list_anew(os.path.join(self.other, "repository"))
        self.git("clone", "-q", "--no-local", os.path.join(self.other, "repository"), clone, where="/")
        self.git("fsck", "--full", "--strict", where=clone)
        here, there = self.git("rev-parse", "HEAD"), self.git("rev-parse", "HEAD", where=clone)
        if here != there:
            raise RuntimeError(f"the clone has {there}, not {here}")
        shutil.rmtree(clone)
        if self.rounds % 4 == 3:
            self.git("gc", "-q", "--prune=now")


class Make(Worker):
    """A program is built here from scratch; the other mount runs it."""
    unit = "objects"
    UNITS = 12

    def begin(self):
        for number in range(self.UNITS):
            with open(os.path.join(self.mine, f"unit{number}.c"), "w") as file:
                file.write(f"int unit{number}(int x) {{ return x + {number}; }}\n")
        calls = " + ".join(f"unit{number}(1)" for number in range(self.UNITS))
        declared = "".join(f"int unit{number}(int);\n" for number in range(self.UNITS))
        with open(os.path.join(self.mine, "main.c"), "w") as file:
            file.write(f'#include <stdio.h>\n{declared}int main(void) {{ printf("%d\\n", {calls}); return 0; }}\n')
        with open(os.path.join(self.mine, "Makefile"), "w") as file:
            file.write("program: $(patsubst %.c,%.o,$(wildcard *.c))\n\t$(CC) -o $@ $^\nclean:\n\trm -f program *.o\n")

    def round(self):
        run("make", "-s", "-j2", "program", cwd=self.mine)
        list_anew(self.other)
        said = run(os.path.join(self.other, "program")).strip()
        if said != str(self.UNITS + sum(range(self.UNITS))):
            raise RuntimeError(f"the program says {said}")
        run("make", "-s", "clean", cwd=self.mine)
        self.units += self.UNITS + 1


class Sqlite(Worker):
    """Transactions by turns through both mounts, under the locks of the server."""
    unit = "transactions"
    PER_ROUND = 10

    def begin(self):
        with sqlite3.connect(os.path.join(self.mine, "base"), timeout=120) as base:
            base.execute("create table numbers (n integer primary key, text text)")

    def round(self):
        for number in range(self.PER_ROUND):
            path = self.mine if number % 2 == 0 else self.other
            base = sqlite3.connect(os.path.join(path, "base"), timeout=120)
            with base:
                base.execute("insert into numbers (text) values (?)", (f"{self.rounds} {number}" * 20,))
            base.close()
            self.units += 1
        base = sqlite3.connect(os.path.join(self.other, "base"), timeout=120)
        rows = base.execute("select count(*) from numbers").fetchone()[0]
        sound = base.execute("pragma integrity_check").fetchone()[0]
        base.close()
        if rows != self.units or sound != "ok":
            raise RuntimeError(f"{rows} rows instead of {self.units}; {sound}")


class Rsync(Worker):
    """A tree is copied here, changed and copied again; the other mount has the same."""
    unit = "files"
    FILES = 60

    def begin(self):
        self.source = os.path.join(self.scratch, "source")
        os.makedirs(os.path.join(self.source, "deep", "er"))

    def round(self):
        for number in range(self.FILES):
            folder = ("", "deep", os.path.join("deep", "er"))[number % 3]
            with open(os.path.join(self.source, folder, f"f{number}"), "wb") as file:
                file.write(hashlib.sha256(f"{self.rounds} {number}".encode()).digest() * (number * 13 + 1))
        # Without -1 a file of the same length whose time differs by less than a second counts as copied.
        run("rsync", "-a", "--modify-window=-1", "--delete", self.source + "/", os.path.join(self.mine, "copy"))
        try:
            same_trees(self.source, os.path.join(self.other, "copy"))
        except RuntimeError as error:
            raise RuntimeError(f"{error}\n{self.versions()}") from error
        self.units += self.FILES

    def versions(self):
        """Of each file the round that each of the three places shows, and its inode and time of change there."""
        def version(path):
            try:
                found = os.stat(path)
                with open(path, "rb") as file:
                    digest = file.read(32)
            except OSError as error:
                return str(error.strerror)
            number = os.path.basename(path)[1:]
            made = [past for past in range(self.rounds + 1) if hashlib.sha256(f"{past} {number}".encode()).digest() == digest]
            return f"round {made} inode {found.st_ino} {found.st_mtime_ns}"
        tops = (self.source, os.path.join(self.mine, "copy"), os.path.join(self.other, "copy"))
        lines = []
        for number in range(0, self.FILES, 3):
            lines.append(f"f{number}: " + "; ".join(version(os.path.join(top, f"f{number}")) for top in tops))
        return "\n".join(lines)


class Fio(Worker):
    """Random writes whose checksums are read back."""
    unit = "MiB verified"
    SIZE = 8

    def round(self):
        run("fio", "--name=soak", f"--directory={self.mine}", f"--size={self.SIZE}m", "--rw=randwrite", "--bsrange=4k-128k",
            "--verify=crc32c", "--do_verify=1", "--verify_fatal=1", "--fsync=64", "--ioengine=psync",
            f"--direct={self.rounds % 2}", "--minimal", cwd=self.scratch)
        self.units += self.SIZE


class Find(Worker):
    """Walks all that the others do, through both mounts: names come and go, the walk goes on."""
    unit = "names"

    def round(self):
        for top in (os.path.dirname(self.mine), os.path.dirname(self.other)):
            done = subprocess.run(["find", top, "-ls"], capture_output=True, check=False)
            self.units += done.stdout.count(b"\n")
            gone = (b"No such file or directory", b"Stale file handle")
            wrong = [line for line in done.stderr.splitlines() if not line.endswith(gone)]
            if wrong:
                raise RuntimeError(f"find: {wrong[0].decode(errors='replace')}")


class Tail(Worker):
    """Lines are appended here, and tail -f on the other mount prints each of them, once and in order."""
    unit = "lines"
    PER_ROUND = 20

    def begin(self):
        self.file = open(os.path.join(self.mine, "log"), "a")
        self.file.flush()
        self.written = bytearray()
        self.compared = 0
        self.seen = open(os.path.join(self.scratch, "seen"), "w+b")
        list_anew(self.other)
        self.tail = subprocess.Popen(["tail", "-n", "+1", "-s", "0.2", "-f", os.path.join(self.other, "log")], stdout=self.seen)

    def round(self):
        for _ in range(self.PER_ROUND):
            line = f"{self.units}\n"
            self.written += line.encode()
            self.file.write(line)
            self.file.flush()
            self.units += 1
        os.fsync(self.file.fileno())
        time.sleep(0.2)
        self.compare()

    def compare(self):
        """What tail has printed since the last time is what was written there."""
        text = os.pread(self.seen.fileno(), len(self.written) + 1, self.compared)
        expected = bytes(self.written[self.compared:])
        if not expected.startswith(text):
            raise RuntimeError(self.difference(text, expected))
        self.compared += len(text)

    def difference(self, text, expected):
        """Where it begins, and what each mount has there now."""
        same = len(os.path.commonprefix([text, expected]))
        place = self.compared + same

        def there(top):
            with open(os.path.join(top, "log"), "rb") as file:
                return os.pread(file.fileno(), 80, place)

        return (f"of {len(self.written)} bytes written, tail -f has printed {self.compared + len(text)}, and from byte "
                f"{place} on {text[same:same + 80]!r} instead of {expected[same:same + 80]!r}; the mount of the writer has "
                f"{there(self.mine)!r} there, the other one {there(self.other)!r}")

    def finish(self):
        self.file.close()
        for _ in range(1200):
            self.compare()
            if self.compared == len(self.written):
                break
            time.sleep(0.1)
        self.tail.terminate()
        self.tail.wait()
        self.seen.close()
        if self.compared != len(self.written):
            raise RuntimeError(f"tail -f has printed {self.compared} bytes of {len(self.written)}")


def all_workers(mounts, scratch):
    """Half of them write through one mount, half through the other."""
    kinds = (Git, Make, Sqlite, Rsync, Fio, Find, Tail)
    return [kind(mounts if number % 2 == 0 else mounts[::-1], scratch) for number, kind in enumerate(kinds)]
