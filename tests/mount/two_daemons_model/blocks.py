"""Files of tagged blocks without locks: what close and fsync promise, and nothing foreign ever."""
import mmap, os
from tags import decode, fill
from world import FORK, RawArray, Violation

SIZES = (4096, 1000, 4096, 512)
BLOCKS = 48


class Blocks:
    """A block's writers take turns, outside the mounts, and keep their turn until close or fsync has
    made the block's generation `committed`; so what a reader may see is known without any lock."""

    def __init__(self, world):
        self.world = world
        count = len(SIZES) * BLOCKS
        self.turn = [FORK.Lock() for _ in range(count)]
        self.started = RawArray("q", count)
        self.committed = RawArray("q", count)
        self.written = [RawArray("q", count) for _ in world.mounts]
        os.mkdir(world.server + "/blocks")
        for file, size in enumerate(SIZES):
            with open(f"{world.server}/blocks/{file}", "wb") as made:
                made.write(b"".join(fill(file, block, 0, 0, size) for block in range(BLOCKS)))

    def step(self, worker):
        file = worker.random.randrange(len(SIZES))
        choice = worker.random.random()
        if choice < 0.4:
            self.write(worker, file)
        elif choice < 0.9:
            self.read(worker, file)
        else:
            self.read_at_server(worker, file)

    # Reading

    def check(self, worker, file, first, data, least, how):
        size = SIZES[file]
        most = self.started[file * BLOCKS:(file + 1) * BLOCKS]
        for i in range(len(data) // size):
            block = first + i
            for tag in set(memoryview(data)[i * size:(i + 1) * size].cast("Q")):
                found = decode(tag)
                if (found is None or found[:2] != (file, block)
                        or not least[block] <= found[2] <= most[block]):
                    raise Violation(f"blocks/{file} block {block} {how}: found {found or hex(tag)}, expected "
                                    f"generation {least[block]} to {most[block]}")

    def least_now(self, worker, file, at_open):
        own = self.written[worker.mount][file * BLOCKS:(file + 1) * BLOCKS]
        return [max(pair) for pair in zip(at_open, own)]

    def read(self, worker, file):
        size = SIZES[file]
        direct = worker.chance(0.1)
        at_open = self.committed[file * BLOCKS:(file + 1) * BLOCKS]
        worker.note(f"open blocks/{file} to read{' direct' if direct else ''}")
        fd = os.open(f"{worker.root}/blocks/{file}", os.O_RDONLY | (os.O_DIRECT if direct else 0))
        try:
            for _ in range(worker.random.choice((1, 1, 3, 10))):
                first = worker.random.randrange(BLOCKS)
                count = worker.random.randint(1, BLOCKS - first)
                least = self.least_now(worker, file, at_open)
                worker.note(f"read blocks/{file} {first}+{count}")
                if worker.chance(0.15) and not direct:
                    data, how = self.mapped(fd, first * size, count * size), "mapped"
                elif direct:
                    data, how = self.direct(fd, first * size, count * size), "direct"
                else:
                    data, how = os.pread(fd, count * size, first * size), "read"
                if len(data) != count * size:
                    raise Violation(f"blocks/{file} {how}: {len(data)} bytes instead of {count * size}")
                self.check(worker, file, first, data, least, how)
        finally:
            os.close(fd)

    @staticmethod
    def mapped(fd, offset, length):
        with mmap.mmap(fd, offset + length, mmap.MAP_SHARED, mmap.PROT_READ) as memory:
            return memory[offset:offset + length]

    @staticmethod
    def direct(fd, offset, length):
        with mmap.mmap(-1, length + 4096) as memory:
            with memoryview(memory) as view, view[:length] as part:
                count = os.preadv(fd, [part], offset)
            return memory[:count]

    def read_at_server(self, worker, file):
        least = self.committed[file * BLOCKS:(file + 1) * BLOCKS]
        worker.note(f"read blocks/{file} at the server")
        with open(f"{self.world.server}/blocks/{file}", "rb") as opened:
            self.check(worker, file, 0, opened.read(), least, "at the server")

    # Writing

    def write(self, worker, file):
        first = worker.random.randrange(BLOCKS)
        blocks = []
        for block in range(first, min(first + worker.random.choice((1, 2, 8)), BLOCKS)):
            if not self.turn[file * BLOCKS + block].acquire(block=False):
                break
            blocks.append(block)
        if not blocks:
            return
        try:
            self.write_blocks(worker, file, blocks)
        finally:
            for block in blocks:
                self.turn[file * BLOCKS + block].release()

    def write_blocks(self, worker, file, blocks):
        page_sized = SIZES[file] == mmap.PAGESIZE
        flags = worker.random.choice((0, 0, 0, os.O_SYNC, os.O_DIRECT if page_sized else 0))
        worker.note(f"open blocks/{file} to write, flags {flags:o}")
        fd = os.open(f"{worker.root}/blocks/{file}", os.O_RDWR | flags)
        try:
            for _ in range(worker.random.choice((1, 1, 2, 5))):
                if page_sized and not flags and worker.chance(0.2):
                    self.store(worker, file, fd, blocks)
                else:
                    self.put(worker, file, fd, blocks, flags & os.O_DIRECT)
                if worker.chance(0.3):
                    worker.note(f"fsync blocks/{file}")
                    os.fsync(fd)
                    self.commit(file, blocks)
        finally:
            worker.note(f"close blocks/{file}")
            os.close(fd)
        self.commit(file, blocks)
        worker.result("closed")

    def next_content(self, worker, file, block):
        at = file * BLOCKS + block
        self.started[at] += 1
        return fill(file, block, self.started[at], worker.number, SIZES[file])

    def put(self, worker, file, fd, blocks, direct):
        size = SIZES[file]
        pieces = [self.next_content(worker, file, block) for block in blocks]
        worker.note(f"write blocks/{file} {blocks[0]}+{len(blocks)} generation "
                    f"{[self.started[file * BLOCKS + block] for block in blocks]}")
        if worker.chance(0.5) or direct:
            with mmap.mmap(-1, size * len(blocks)) as memory:
                memory[:] = b"".join(pieces)
                count = os.pwritev(fd, [memory], blocks[0] * size)
        else:
            count = sum(os.pwrite(fd, piece, block * size) for block, piece in zip(blocks, pieces))
        if count != size * len(blocks):
            raise Violation(f"blocks/{file}: {count} bytes written instead of {size * len(blocks)}")
        self.now_written(worker, file, blocks)

    def store(self, worker, file, fd, blocks):
        size = SIZES[file]
        worker.note(f"store blocks/{file} {blocks[0]}+{len(blocks)}")
        with mmap.mmap(fd, BLOCKS * size) as memory:
            for block in blocks:
                memory[block * size:(block + 1) * size] = self.next_content(worker, file, block)
            memory.flush(blocks[0] * size, len(blocks) * size)
        self.now_written(worker, file, blocks)

    def now_written(self, worker, file, blocks):
        for block in blocks:
            at = file * BLOCKS + block
            self.written[worker.mount][at] = self.started[at]

    def commit(self, file, blocks):
        for block in blocks:
            self.committed[file * BLOCKS + block] = self.started[file * BLOCKS + block]

    def finish(self):
        for file in range(len(SIZES)):
            with open(f"{self.world.server}/blocks/{file}", "rb") as opened:
                data = opened.read()
            if len(data) != BLOCKS * SIZES[file]:
                raise Violation(f"blocks/{file} has {len(data)} bytes in the end")
            self.check(None, file, 0, data, self.started[file * BLOCKS:(file + 1) * BLOCKS], "in the end")
