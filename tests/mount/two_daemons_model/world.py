"""What all processes of a run share: time, locks outside the mounts, progress, violations."""
import collections, contextlib, ctypes, multiprocessing, random, re, tempfile, time
from multiprocessing.sharedctypes import RawArray, RawValue

FORK = multiprocessing.get_context("fork")
SLACK = 1.0  # s between the daemon's reckoning of an attribute's age and the kernel's, on a busy machine


class Violation(Exception):
    """Something that close-to-open does not permit."""


class World:
    """`mounts`: the mount points; `server`: the served directory; `staleness`: the longest time, in
    seconds, attributes and names are believed; `reboots`: whether the server reboots meanwhile."""

    def __init__(self, mounts, server, staleness, reboots, seed, workers_per_mount):
        self.mounts, self.server, self.seed, self.reboots = mounts, server, seed, reboots
        self.window = staleness + SLACK if staleness else 0.0
        self.count = workers_per_mount * len(mounts)
        self.stop = RawValue("i", 0)
        self.failed = RawValue("i", 0)
        self.operations = RawArray("q", self.count)
        self.now_doing = [RawArray("c", 160) for _ in range(self.count)]
        self.report_lock = FORK.Lock()
        self.subject = RawArray("c", 160)
        self.histories = tempfile.mkdtemp(prefix="nfsrdma-histories-")

    def done(self):
        return sum(self.operations)

    def report(self, text):
        """A violation. The first word with a slash is what it is about."""
        with self.report_lock:
            self.failed.value = self.stop.value = 1
            print("VIOLATION " + text, flush=True)
            for root in [*self.mounts, self.server]:
                text = text.replace(f"{root}/", "")
            about = re.search(r"[a-z]+/[\w/-]*", text)
            if about and not self.subject.value:
                self.subject.value = about.group().encode()

    def tell_history(self, last):
        """What all workers did to the subject of the first violation, in the order of time."""
        lines = []
        for number in range(self.count):
            with contextlib.suppress(FileNotFoundError), open(f"{self.histories}/{number}") as saved:
                lines += saved.read().splitlines()
        about = re.compile(re.escape(self.subject.value.decode()) + r"(?![\w-])")
        print("\n".join([line for line in sorted(lines) if about.search(line)][-last:]), flush=True)


class Worker:
    """One process on one mount."""

    def __init__(self, world, number):
        self.world, self.number = world, number
        self.mount = number % len(world.mounts)
        self.root = world.mounts[self.mount]
        self.random = random.Random(f"{world.seed}/{number}")
        self.history = collections.deque(maxlen=2000)

    def note(self, text):
        self.history.append((time.monotonic(), text))
        self.world.now_doing[self.number].value = text.encode()[:150]
        self.world.operations[self.number] += 1

    def result(self, text):
        """What came of the operation noted last."""
        self.history.append((time.monotonic(), f"{self.history[-1][1]} -> {text}"))

    def chance(self, probability):
        return self.random.random() < probability

    def save(self, folder):
        with open(f"{folder}/{self.number}", "w") as out:
            for at, text in self.history:
                print(f"{at:.6f} mount {self.mount} worker {self.number}: {text}", file=out)


class History:
    """The states each of `count` things went through. Only who holds a thing's mutex changes it;
    anybody may ask which states a caller of a mount can have seen."""

    KEPT = 512

    class State(ctypes.Structure):
        _fields_ = [("begun", ctypes.c_double), ("ended", ctypes.c_double),
                    ("kind", ctypes.c_int), ("identity", ctypes.c_longlong),
                    ("source", ctypes.c_int), ("source_version", ctypes.c_longlong),
                    ("mover", ctypes.c_int)]

    def __init__(self, world, count):
        self.world = world
        self.states = [RawArray(self.State, self.KEPT) for _ in range(count)]
        for states in self.states:
            states[0].mover = -1
        self.latest = RawArray("q", count)
        self.own = [RawArray("q", count) for _ in world.mounts]
        self.mutex = [FORK.Lock() for _ in range(count)]

    def current(self, thing):
        state = self.states[thing][self.latest[thing] % self.KEPT]
        return state.kind, state.identity

    def begin(self, thing, kind, identity):
        """From now on the new state may be seen."""
        version = self.latest[thing] + 1
        state = self.states[thing][version % self.KEPT]
        state.begun, state.ended = time.monotonic(), float("inf")
        state.kind, state.identity, state.mover = kind, identity, -1
        self.latest[thing] = version

    def end(self, thing, mount, known=True):
        """From now on the old state is over. `known`: callers of the same mount know the new one."""
        self.states[thing][self.latest[thing] % self.KEPT].ended = time.monotonic()
        if known:
            self.own[mount][thing] = self.latest[thing]

    def give_up(self, thing):
        """The change was refused: the old state goes on."""
        version = self.latest[thing]
        old, new = (self.states[thing][v % self.KEPT] for v in (version - 1, version))
        new.kind, new.identity, new.ended = old.kind, old.identity, time.monotonic()

    def moved(self, thing, source, mount):
        """The present state came by a rename from `source` on a mount that may not have known what was
        there: its kernel has moved whatever it took that for."""
        state = self.states[thing][self.latest[thing] % self.KEPT]
        state.source, state.source_version, state.mover = source, self.latest[source] - 1, mount

    def knows_current(self, thing, mount):
        return self.own[mount][thing] == self.latest[thing]

    def before(self, thing, mount):
        """To be called before an observation by `mount`, None: at the server."""
        return time.monotonic(), self.own[mount][thing] if mount is not None else 0, mount

    def possible(self, thing, before, window=None, version=None):
        """The (kind, identity) that may have been seen since `before`, or None: too long ago."""
        start, least, mount = before
        window = self.world.window if window is None else window
        found, version = set(), self.latest[thing] if version is None else version
        oldest = version - self.KEPT + 2
        over = float("inf")  # when the state was certainly replaced
        while version >= max(least, 0) and over >= start - window:
            if version < oldest:
                return None
            state = self.states[thing][version % self.KEPT]
            found.add((state.kind, state.identity))
            if window and state.mover == mount and mount is not None:
                old = self.possible(state.source, (start, 0, mount), window, state.source_version)
                if old is None:
                    return None
                found |= old
            over = state.ended if version else 0
            version -= 1
        return found
