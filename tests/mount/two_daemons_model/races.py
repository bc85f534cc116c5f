"""Makers of one name race: exactly one of them succeeds. And files in use that lose their name."""
import os
from tags import fill
from world import FORK, RawValue, Violation


class Races:
    """Round by round all workers try to make the same new name; a round ends when no worker is trying."""

    WAYS = ("create", "mkdir", "symlink", "link")

    def __init__(self, world):
        self.world = world
        self.round, self.trying = RawValue("q", 0), RawValue("i", 0)
        self.tried, self.won = RawValue("i", 0), RawValue("i", 0)
        self.books = FORK.Lock()
        self.last = -1
        os.mkdir(world.server + "/races")
        open(world.server + "/races/linked", "w").close()

    def way(self):
        # Only a file's creation carries a verifier that tells who has made it when the session, and
        # with it the memory of what was answered, was lost in a reboot.
        return self.WAYS[0 if self.world.reboots else self.round.value % len(self.WAYS)]

    def step(self, worker):
        with self.books:
            if self.round.value == self.last:
                if self.trying.value or self.tried.value < 2:
                    return
                self.next_round(worker)
            self.last, way = self.round.value, self.way()
            self.trying.value += 1
        path = f"{worker.root}/races/{self.last}"
        worker.note(f"{way} races/{self.last}")
        succeeded = self.attempt(way, path, worker)
        worker.result("made" if succeeded else "EEXIST")
        with self.books:
            self.trying.value -= 1
            self.tried.value += 1
            self.won.value += succeeded
            if self.won.value > 1:
                raise Violation(f"{way} races/{self.last}: two have made it")

    def attempt(self, way, path, worker):
        try:
            if way == "create":
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            elif way == "mkdir":
                os.mkdir(path)
            elif way == "symlink":
                os.symlink("nowhere", path)
            else:
                os.link(f"{worker.root}/races/linked", path)
        except FileExistsError:
            return False
        return True

    def next_round(self, worker):
        if self.won.value != 1:
            raise Violation(f"{self.way()} races/{self.round.value}: {self.won.value} of {self.tried.value} made it")
        path = f"{worker.root}/races/{self.round.value}"
        worker.note(f"remove races/{self.round.value}")
        (os.rmdir if self.way() == "mkdir" else os.unlink)(path)
        self.round.value += 1
        self.tried.value = self.won.value = 0

    def finish(self):
        pass


class Unlinked:
    """An open file that is removed, or replaced, stays usable for who has it open."""

    SIZE = 20000

    def __init__(self, world):
        self.world = world
        os.mkdir(world.server + "/unlinked")

    def step(self, worker):
        path = f"{worker.root}/unlinked/{worker.number}"
        worker.note("make and remove a file in use")
        content = fill(0, 0, worker.random.randrange(1 << 32), worker.number, self.SIZE)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(fd, content)
            if worker.chance(0.5):
                os.unlink(path)
            else:
                with open(path + ".new", "w") as other:
                    other.write("other")
                os.rename(path + ".new", path)
                os.unlink(path)
            worker.note("use it")
            if os.pread(fd, self.SIZE + 1, 0) != content:
                raise Violation(f"unlinked/{worker.number}: wrong content after it was removed")
            os.pwrite(fd, b"more", self.SIZE)
            os.fsync(fd)
            if os.fstat(fd).st_size != self.SIZE + 4 or os.pread(fd, 8, self.SIZE) != b"more":
                raise Violation(f"unlinked/{worker.number}: a write after it was removed is lost")
        finally:
            os.close(fd)

    def finish(self):
        left = os.listdir(self.world.server + "/unlinked")
        if left:
            raise Violation(f"unlinked/ still has {left}")
