"""Whole files that processes take in turn, without any lock of the mounts: open after close sees exactly what the last one left."""
import mmap, os
from world import FORK, RawValue, Violation

FILES = 4
MOST = 180000
PIECE = 4096


class Turns:
    """Who has the turn opens the file, finds length and bytes exact, however they are read, changes them, and closes it. The
    turn and the bytes are kept outside the mounts."""

    def __init__(self, world):
        self.world = world
        self.turn = [FORK.Lock() for _ in range(FILES)]
        self.length = [RawValue("q", 0) for _ in range(FILES)]
        self.kept = [mmap.mmap(-1, MOST) for _ in range(FILES)]
        self.mode = [RawValue("i", 0o644) for _ in range(FILES)]
        os.mkdir(world.server + "/turns")
        for file in range(FILES):
            open(f"{world.server}/turns/{file}", "w").close()

    def text(self, file):
        return self.kept[file][:self.length[file].value]

    def step(self, worker):
        file = worker.random.randrange(FILES)
        if not self.turn[file].acquire(timeout=0.1):
            return
        try:
            self.take(worker, file)
        finally:
            self.turn[file].release()

    def take(self, worker, file):
        name, path = f"turns/{file}", f"{worker.root}/turns/{file}"
        if worker.chance(0.2):
            self.replace(worker, file, name, path)
            return
        flags = os.O_RDWR | worker.random.choice((0, 0, os.O_CREAT))
        worker.note(f"open {name}{' with O_CREAT' if flags & os.O_CREAT else ''}")
        fd = os.open(path, flags)
        try:
            how, read = worker.random.choice((("in pieces", self.pieces), ("in pieces", self.pieces), ("mapped", self.mapped)))
            worker.note(f"read {name} {how}")
            self.compare(file, name, how, read(fd))
            for _ in range(worker.random.choice((0, 1, 1, 2))):
                worker.random.choice((self.write, self.truncate, self.truncate, self.map, self.append))(worker, file, name, fd)
            if worker.chance(0.2):
                self.change_mode(worker, file, name, path)
            if worker.chance(0.2):
                self.fork(worker, name, fd)
        finally:
            worker.note(f"close {name}")
            os.close(fd)

    def compare(self, file, name, how, found):
        expected = self.text(file)
        if found != expected:
            right = len(os.path.commonprefix([found, expected]))
            raise Violation(f"{name} {how}: {len(found)} bytes of which the first {right} are right, expected {len(expected)}")

    @staticmethod
    def pieces(fd):
        text = b""
        while piece := os.pread(fd, PIECE, len(text)):
            text += piece
        return text

    @staticmethod
    def mapped(fd):
        size = os.fstat(fd).st_size
        if not size:
            return b""
        with mmap.mmap(fd, size, prot=mmap.PROT_READ) as memory:
            return memory[:]

    # Changes

    def put(self, file, at, data):
        """In the model: what was not there before `at` is zeros."""
        length = self.length[file].value
        if at > length:
            self.kept[file][length:at] = bytes(at - length)
        self.kept[file][at:at + len(data)] = data
        self.length[file].value = max(length, at + len(data))

    def write(self, worker, file, name, fd):
        at = worker.random.randrange(MOST - PIECE)
        data = worker.random.randbytes(worker.random.randint(1, PIECE))
        worker.note(f"write {name} {at}+{len(data)}")
        if os.pwrite(fd, data, at) != len(data):
            raise Violation(f"{name}: short write")
        self.put(file, at, data)

    def append(self, worker, file, name, fd):
        data = worker.random.randbytes(min(1000, MOST - self.length[file].value))
        if not data:
            return
        worker.note(f"append {name} {len(data)}")
        if os.pwrite(fd, data, os.lseek(fd, 0, os.SEEK_END)) != len(data):
            raise Violation(f"{name}: short write")
        self.put(file, self.length[file].value, data)

    def truncate(self, worker, file, name, fd):
        length = worker.random.randrange(MOST)
        worker.note(f"truncate {name} to {length}")
        os.ftruncate(fd, length)
        self.put(file, length, b"")
        self.length[file].value = length

    def map(self, worker, file, name, fd):
        length = self.length[file].value
        if not length:
            return
        at = worker.random.randrange(length)
        data = worker.random.randbytes(min(PIECE, length - at))
        worker.note(f"store {name} {at}+{len(data)}")
        with mmap.mmap(fd, length) as memory:
            memory[at:at + len(data)] = data
        self.put(file, at, data)

    def replace(self, worker, file, name, path):
        """As editors do: a new file is renamed over the name."""
        worker.note(f"rename over {name}")
        data = worker.random.randbytes(worker.random.randint(0, MOST))
        new = f"{path}-{worker.number}"
        with open(new, "wb") as made:
            made.write(data)
        os.rename(new, path)
        self.length[file].value = 0
        self.put(file, 0, data)
        self.mode[file].value = os.stat(path).st_mode & 0o777

    def change_mode(self, worker, file, name, path):
        self.mode[file].value = worker.random.choice((0o600, 0o640, 0o644))
        worker.note(f"chmod {name} {self.mode[file].value:o}")
        os.chmod(path, self.mode[file].value)

    def fork(self, worker, name, fd):
        """A child that has the descriptor, too, ends before or after what is written next."""
        worker.note(f"fork with {name}")
        child = os.fork()
        if child == 0:
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            raise Violation(f"{name}: a child that closes it fails")

    def finish(self):
        for file in range(FILES):
            with open(f"{self.world.server}/turns/{file}", "rb") as opened:
                self.compare(file, f"turns/{file}", "at the server in the end", opened.read())
            mode = os.stat(f"{self.world.server}/turns/{file}").st_mode & 0o777
            if mode != self.mode[file].value:
                raise Violation(f"turns/{file} has mode {mode:o} in the end, expected {self.mode[file].value:o}")
