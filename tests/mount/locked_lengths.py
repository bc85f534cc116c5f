"""The length of a file under fcntl locks: locked_lengths.py ROUNDS SEED MOUNT OTHER-MOUNT

In each round a process on the other mount locks the whole file, makes it longer or shorter, and unlocks
it. Then processes of the first mount lock parts of it that do not overlap, at the same moment, and go on
at once: some write to their parts, which the kernel takes as a reason to ignore attributes that others are
asking for; the others read, and must find exactly the length that was left, by read(2) as by fstat(2).
"""
import fcntl, os, random, sys, threading
import multiprocessing as processes
from multiprocessing.sharedctypes import RawValue

ROUNDS, SEED = int(sys.argv[1]), sys.argv[2]
FIRST, OTHER = (root + "/lengths" for root in sys.argv[3:5])
WRITERS, READERS = 2, 3
WRITES = 6  # by each writer in a round
PART = 1000             # bytes of a writer's part; the parts come first, and always exist
LEAST = WRITERS * PART
MOST = 40000
LETTERS = b"abcdefghijklmnopqrstuvwxyz"
fork = processes.get_context("fork")
length, letter, wrong = RawValue("q", 0), RawValue("i", 0), RawValue("i", 0)
at_once = fork.Barrier(WRITERS + READERS + 1)


class Range:
    """A lock on some bytes from a place on; 0: to the end, wherever that will be."""

    def __init__(self, fd, kind, first, count):
        self.fd, self.first, self.count = fd, first, count
        fcntl.lockf(fd, kind, count, first)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        fcntl.lockf(self.fd, fcntl.LOCK_UN, self.count, self.first)


def next_length(choice):
    """More often longer or shorter by little than anything at all."""
    if choice.random() < 0.3:
        return choice.randint(LEAST, MOST)
    return min(MOST, max(LEAST, length.value + choice.randint(-5000, 5000)))


def change(choice):
    fd = os.open(OTHER, os.O_RDWR)
    with Range(fd, fcntl.LOCK_EX, 0, 0):
        wanted = next_length(choice)
        letter.value = choice.randrange(len(LETTERS))
        os.ftruncate(fd, min(wanted, length.value))
        os.pwrite(fd, LETTERS[letter.value:letter.value + 1] * (wanted - LEAST), LEAST)
        length.value = wanted
    os.close(fd)


def write(choice, number):
    fd = os.open(FIRST, os.O_RDWR)
    at_once.wait()
    with Range(fd, fcntl.LOCK_EX, number * PART, PART):
        for _ in range(WRITES):
            os.pwrite(fd, b"w" * choice.randint(1, PART), number * PART)
    os.close(fd)


def read(choice, _):
    fd = os.open(FIRST, os.O_RDONLY)
    at_once.wait()
    with Range(fd, fcntl.LOCK_SH, LEAST, 0):
        if choice.random() < 0.3:
            found = os.fstat(fd).st_size
            if found != length.value:
                tell(f"fstat: {found} bytes instead of {length.value}")
        first = choice.randint(LEAST, length.value)
        data = os.pread(fd, 2 * MOST, first)
        expected = LETTERS[letter.value:letter.value + 1] * (length.value - first)
        if data != expected:
            same = len(os.path.commonprefix([data, expected]))
            tell(f"read at {first}: {len(data)} bytes instead of {len(expected)}; the first {same} are right, "
                 f"then {data[same:same + 8]!r}")
    os.close(fd)


def tell(text):
    wrong.value += 1
    print(text, flush=True)


def work(step, number):
    """All rounds of one process of the first mount."""
    try:
        for turn in range(ROUNDS):
            step(random.Random(f"{SEED}/{turn}/{number}"), number)
            at_once.wait()
    except BaseException as error:
        tell(f"{type(error).__name__}: {error}")
        at_once.abort()
    os._exit(0)


with open(OTHER, "w") as made:
    made.write("w" * LEAST)
length.value = LEAST
workers = [fork.Process(target=work, args=(write, number)) for number in range(WRITERS)]
workers += [fork.Process(target=work, args=(read, WRITERS + number)) for number in range(READERS)]
for worker in workers:
    worker.start()
try:
    for turn in range(ROUNDS):
        change(random.Random(f"{SEED}/{turn}"))
        at_once.wait()
        at_once.wait()
except threading.BrokenBarrierError:
    pass
for worker in workers:
    worker.join()
print(f"{ROUNDS} rounds, {wrong.value} wrong")
sys.exit(wrong.value > 0)
