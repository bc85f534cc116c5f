"""Logs: all processes of one mount append to a file; the other mount and the server read it."""
import os
from tags import decode, pack
from world import RawArray, RawValue, Violation

RECORD = 64
PER_LOG = 1000  # records, then a new log
FIRST_TAG = 200


class Appends:
    """A record has its writer's sequence number. Logs have no holes, and lose, repeat or reorder nothing
    of one writer."""

    LOGS = 512

    def __init__(self, world):
        self.world = world
        mounts = range(len(world.mounts))
        self.log = [RawValue("q", 0) for _ in mounts]
        self.count = [RawArray("q", self.LOGS) for _ in mounts]
        self.started = [[RawArray("q", world.count) for _ in range(self.LOGS)] for _ in mounts]
        self.committed = [[RawArray("q", world.count) for _ in range(self.LOGS)] for _ in mounts]
        os.mkdir(world.server + "/logs")

    def step(self, worker):
        if worker.chance(0.5):
            self.append(worker)
            return
        mount = worker.random.randrange(len(self.world.mounts))
        log = max(0, self.log[mount].value - worker.random.choice((0, 0, 0, 1)))
        if self.count[mount][log]:
            at_server = worker.chance(0.2)
            self.read(worker, mount, log, self.world.server if at_server else worker.root)

    def append(self, worker):
        mount = worker.mount
        log = self.log[mount].value
        if self.count[mount][log] >= PER_LOG and log + 1 < self.LOGS:
            log = self.log[mount].value = log + 1  # all who see it full say the same
        path = f"logs/{mount}-{log}"
        worker.note(f"open {path} to append")
        fd = os.open(f"{worker.root}/{path}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            for _ in range(worker.random.choice((1, 3, 10))):
                sequence = self.started[mount][log][worker.number] + 1
                self.started[mount][log][worker.number] = sequence
                worker.note(f"append {path} {sequence}")
                record = pack(FIRST_TAG + mount, log % 256, sequence, worker.number) * (RECORD // 8)
                if os.write(fd, record) != RECORD:
                    raise Violation(f"{path}: short write")
        finally:
            worker.note(f"close {path}")
            os.close(fd)
        self.committed[mount][log][worker.number] = sequence
        self.count[mount][log] = sum(self.committed[mount][log])

    def read(self, worker, mount, log, root):
        least = list(self.committed[mount][log])
        path = f"logs/{mount}-{log}"
        worker.note(f"read {path}")
        try:
            with open(f"{root}/{path}", "rb", buffering=0) as opened:
                data = opened.read()
        except FileNotFoundError:
            # The name may have been asked for before the log was begun, and not be believed gone.
            if self.world.window:
                return
            raise
        self.check(path, mount, log, data, least, list(self.started[mount][log]))

    def check(self, path, mount, log, data, least, most):
        seen = [0] * self.world.count
        for at in range(0, len(data) - RECORD + 1, RECORD):
            tags = set(memoryview(data)[at:at + RECORD].cast("Q"))
            found = decode(min(tags)) if len(tags) == 1 else None
            if found is None or found[:2] != (FIRST_TAG + mount, log % 256) \
                    or found[2] != seen[found[3]] + 1 or found[2] > most[found[3]]:
                empty = next((i for i in range(at, len(data)) if data[i]), len(data)) - at
                raise Violation(f"{path} at {at} of {len(data)}: found {found or [hex(tag) for tag in tags]}, "
                                f"{empty} zeros, "
                                f"so far {seen}, at most {most}")
            seen[found[3]] += 1
        if any(count < needed for count, needed in zip(seen, least)):
            raise Violation(f"{path}: {seen} records, expected at least {least}")

    def finish(self):
        for mount in range(len(self.world.mounts)):
            for log in range(self.log[mount].value + 1):
                most = list(self.started[mount][log])
                if not any(most):
                    continue
                path = f"logs/{mount}-{log}"
                with open(f"{self.world.server}/{path}", "rb") as opened:
                    self.check(path, mount, log, opened.read(), most, most)
