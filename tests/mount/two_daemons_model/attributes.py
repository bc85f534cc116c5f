"""Mode, times and length: set in turns, seen by stat within the attribute timeout, by open at once."""
import os, stat
from world import History, Violation

KINDS = ("mode", "time", "length")
PER_KIND = 2


class Attributes:
    def __init__(self, world):
        self.world = world
        self.states = History(world, len(KINDS) * PER_KIND)
        os.mkdir(world.server + "/attributes")
        for thing in range(len(KINDS) * PER_KIND):
            path = f"{world.server}/{self.path(thing)}"
            open(path, "w").close()
            os.chmod(path, 0o600)
            os.utime(path, (0, 0))

    @staticmethod
    def path(thing):
        return f"attributes/{KINDS[thing // PER_KIND]}{thing % PER_KIND}"

    def step(self, worker):
        thing = worker.random.randrange(len(KINDS) * PER_KIND)
        if worker.chance(0.3):
            if self.states.mutex[thing].acquire(block=False):
                try:
                    self.change(worker, thing)
                finally:
                    self.states.mutex[thing].release()
        else:
            self.look(worker, thing)

    @staticmethod
    def value(thing, attributes):
        kind = KINDS[thing // PER_KIND]
        if kind == "mode":
            return stat.S_IMODE(attributes.st_mode) & 0o177
        return int(attributes.st_mtime) if kind == "time" else attributes.st_size

    def change(self, worker, thing):
        kind, path = KINDS[thing // PER_KIND], f"{worker.root}/{self.path(thing)}"
        value = self.states.current(thing)[1] + 1
        if kind != "time":
            value %= 0o200
        worker.note(f"set {self.path(thing)} to {value}")
        self.states.begin(thing, 0, value)
        if kind == "mode":
            os.chmod(path, 0o600 | value)
        elif kind == "time":
            os.utime(path, (value, value))
        else:
            os.truncate(path, value)
        self.states.end(thing, worker.mount)
        worker.result("done")

    def look(self, worker, thing):
        how = worker.random.choice(("stat", "open", "server"))
        root = self.world.server if how == "server" else worker.root
        before = self.states.before(thing, None if how == "server" else worker.mount)
        worker.note(f"{how} {self.path(thing)}")
        path = f"{root}/{self.path(thing)}"
        if how == "open":
            fd = os.open(path, os.O_RDONLY)
            try:
                attributes = os.fstat(fd)
            finally:
                os.close(fd)
        else:
            attributes = os.stat(path)
        value = self.value(thing, attributes)
        worker.result(str(value))
        possible = self.states.possible(thing, before, None if how == "stat" else 0.0)
        if possible is not None and (0, value) not in possible:
            raise Violation(f"{how} {self.path(thing)}: {value}, possible {sorted(possible)}")

    def finish(self):
        for thing in range(len(KINDS) * PER_KIND):
            found = self.value(thing, os.stat(f"{self.world.server}/{self.path(thing)}"))
            if found != self.states.current(thing)[1]:
                raise Violation(f"{self.path(thing)} in the end: {found}, expected {self.states.current(thing)[1]}")
