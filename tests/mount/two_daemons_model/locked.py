"""Files that are used under fcntl or flock locks only: the holder of one sees exactly what was there."""
import fcntl, mmap, os
from tags import decode, fill
from world import FORK, RawArray, RawValue, Violation

BLOCKS = 32
FIRST_TAG = 100  # file number in tags; those of blocks.py are smaller


class LockedFile:
    def __init__(self, world, number, size, whole):
        self.world, self.number, self.size, self.whole = world, number, size, whole
        self.name = f"locked/{number}"
        # Python closes a duplicate with the mapping, and with that all fcntl locks of the process.
        self.mappable = whole and size == mmap.PAGESIZE
        self.generation = RawArray("q", BLOCKS)  # 0: a hole or truncated away
        self.writer = RawArray("i", BLOCKS)
        self.length = RawValue("q", 0)  # in blocks
        self.last = RawValue("q", 0)
        self.mappings = []  # of this process, with the descriptor `left`, until it uses the file again
        self.left = None
        self.books = FORK.Lock()
        self.readers = RawArray("i", BLOCKS)
        self.writers = RawArray("i", BLOCKS)
        open(f"{world.server}/{self.name}", "w").close()

    def step(self, worker):
        self.close_left(worker)
        first = worker.random.randrange(BLOCKS)
        count = worker.random.randint(1, BLOCKS - first)
        everything = self.whole or worker.chance(0.3)
        if everything:
            first, count = 0, BLOCKS
        exclusive, waits = worker.chance(0.6), worker.chance(0.5)
        append = worker.chance(0.3)
        worker.note(f"open {self.name}{' to append' if append else ''}")
        fd = os.open(f"{worker.root}/{self.name}", os.O_RDWR | (os.O_APPEND if append else 0))
        try:
            if not self.lock(worker, fd, exclusive, waits, first, count, everything):
                return
            self.enter(exclusive, first, count)
            try:
                self.under_lock(worker, fd, exclusive, everything, append, first, count)
            finally:
                self.leave(exclusive, first, count)
                if self.mappings or worker.chance(0.6):
                    worker.note(f"unlock {self.name}")
                    self.unlock(fd, first, count, everything)
        finally:
            if self.mappings:
                self.left = fd
            else:
                worker.note(f"close {self.name}")
                os.close(fd)

    def close_left(self, worker):
        """A program keeps its mapping when it gives the lock back, and neither munmap(2) nor close(2) writes it."""
        if not self.mappings:
            return
        worker.note(f"unmap and close {self.name}")
        while self.mappings:
            self.mappings.pop().close()
        os.close(self.left)

    def range_of(self, first, count, everything):
        return (0, 0) if everything else (count * self.size, first * self.size)

    def lock(self, worker, fd, exclusive, waits, first, count, everything):
        kind = (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | (0 if waits else fcntl.LOCK_NB)
        worker.note(f"lock {self.name} {'exclusive' if exclusive else 'shared'}"
                    f"{' waiting' if waits else ''} {'all' if everything else f'{first}+{count}'}")
        try:
            if self.whole:
                fcntl.flock(fd, kind)
            else:
                fcntl.lockf(fd, kind, *self.range_of(first, count, everything))
        except BlockingIOError:
            return False
        worker.result("locked")
        return True

    def unlock(self, fd, first, count, everything):
        if self.whole:
            fcntl.flock(fd, fcntl.LOCK_UN)
        else:
            fcntl.lockf(fd, fcntl.LOCK_UN, *self.range_of(first, count, everything))

    def enter(self, exclusive, first, count):
        with self.books:
            for block in range(first, first + count):
                if self.writers[block] or exclusive and self.readers[block]:
                    raise Violation(f"{self.name}: two hold conflicting locks on block {block}")
            held = self.writers if exclusive else self.readers
            for block in range(first, first + count):
                held[block] += 1

    def leave(self, exclusive, first, count):
        with self.books:
            held = self.writers if exclusive else self.readers
            for block in range(first, first + count):
                held[block] -= 1

    def under_lock(self, worker, fd, exclusive, everything, append, first, count):
        if worker.chance(0.7):
            self.check(worker, fd, first, count)
        if not exclusive:
            return
        for _ in range(worker.random.choice((1, 1, 3))):
            if append:
                if everything:
                    self.append(worker, fd)
            elif everything and worker.chance(0.4):
                self.truncate(worker, fd)
            else:
                self.write(worker, fd, first, count)
        if worker.chance(0.3):
            self.check(worker, fd, first, count)
        if worker.chance(0.1):
            worker.note(f"fsync {self.name}")
            os.fsync(fd)

    def check(self, worker, fd, first, count):
        present = max(0, min(first + count, self.length.value) - first)
        length = self.length.value * self.size
        if worker.chance(0.5):
            worker.note(f"fstat {self.name}")
            found = os.fstat(fd).st_size
            if found != length:
                raise Violation(f"{self.name}: size {found} under a lock, expected {length}")
        worker.note(f"read {self.name} {first}+{count}")
        if present and self.whole and worker.chance(0.2):
            with mmap.mmap(fd, (first + present) * self.size, prot=mmap.PROT_READ) as memory:
                data = memory[first * self.size:]
        else:
            data = os.pread(fd, count * self.size, first * self.size)
        self.compare(data, first, present, f"(length {length})")

    def compare(self, data, first, present, where):
        if len(data) != present * self.size:
            raise Violation(f"{self.name}: read {len(data)} bytes at block {first}, expected "
                            f"{present * self.size} {where}")
        for i in range(present):
            block = first + i
            expected = (FIRST_TAG + self.number, block, self.generation[block], self.writer[block])
            for tag in set(memoryview(data)[i * self.size:(i + 1) * self.size].cast("Q")):
                found = decode(tag)
                if (found if expected[2] else tag) != (expected if expected[2] else 0):
                    raise Violation(f"{self.name} block {block} under a lock: found {found or hex(tag)}, "
                                    f"expected {expected if expected[2] else 'zeros'} {where}")

    def content(self, worker, block):
        self.last.value += 1  # only exactness matters, so holders of other ranges may share a number
        self.generation[block], self.writer[block] = self.last.value, worker.number
        return fill(FIRST_TAG + self.number, block, self.generation[block], worker.number, self.size)

    def write(self, worker, fd, first, count):
        """A range lock covers no change of the length: inside of it only, unless all is locked."""
        limit = min(first + count, BLOCKS if count == BLOCKS else self.length.value)
        if first >= limit:
            return
        block = worker.random.randrange(first, limit)
        count = min(worker.random.choice((1, 1, 4)), limit - block)
        worker.note(f"write {self.name} {block}+{count}")
        data = b"".join(self.content(worker, block + i) for i in range(count))
        if self.mappable and block + count <= self.length.value and worker.chance(0.2):
            memory = mmap.mmap(fd, (block + count) * self.size)
            self.mappings.append(memory)
            memory[block * self.size:] = data
            if worker.chance(0.3):  # msync(2) is not needed: giving the lock back writes it
                memory.flush()
        elif os.pwrite(fd, data, block * self.size) != len(data):
            raise Violation(f"{self.name}: short write")
        self.length.value = max(self.length.value, block + count)

    def append(self, worker, fd):
        count = min(worker.random.choice((1, 2)), BLOCKS - self.length.value)
        if not count:
            return
        block = self.length.value
        worker.note(f"append {self.name} {block}+{count}")
        data = b"".join(self.content(worker, block + i) for i in range(count))
        if os.write(fd, data) != len(data):
            raise Violation(f"{self.name}: short append")
        self.length.value += count

    def truncate(self, worker, fd):
        length = worker.random.randint(0, BLOCKS)
        worker.note(f"truncate {self.name} to {length} blocks")
        if worker.chance(0.7):
            os.ftruncate(fd, length * self.size)
        else:
            os.truncate(f"{worker.root}/{self.name}", length * self.size)
        for block in range(length, BLOCKS):
            self.generation[block] = 0
        self.length.value = length


class Locked:
    def __init__(self, world):
        os.mkdir(world.server + "/locked")
        kinds = ((4096, False), (1000, False), (4096, True), (1000, True))
        self.files = [LockedFile(world, number, *kind) for number, kind in enumerate(kinds)]

    def step(self, worker):
        worker.random.choice(self.files).step(worker)

    def finish(self):
        for file in self.files:
            with open(f"{file.world.server}/{file.name}", "rb") as opened:
                file.compare(opened.read(), 0, file.length.value, "in the end")
