#!/usr/bin/env python3
"""A load on a mount whose server misbehaves: load.py MOUNT EXPORT KIND [NAME=NUMBER...]

Ends with an error unless each operation has succeeded and all data is right, as the mount shows it and as the server's
directory has it. KIND is reads, writes, names or leaves; threads, count and size say how many workers there are, how often
each does it, and of how many bytes."""
import mmap
import os
import random
import signal
import sys
import threading

mount, export, kind = sys.argv[1:4]
numbers = {"threads": 4, "count": 20, "size": 65536}
numbers.update((name, int(value)) for name, value in (word.split("=") for word in sys.argv[4:]))
threads, count, size = numbers["threads"], numbers["count"], numbers["size"]
BLOCK = 4096
failures = []


def source():
    """The file that is read: made once, in the server's directory."""
    path = os.path.join(export, "read-by-the-load")
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(random.Random(1).randbytes(1 << 20))
    return path


def read_some(worker, whole):
    chance = random.Random(worker)
    buffer = mmap.mmap(-1, size)
    fd = os.open(os.path.join(mount, "read-by-the-load"), os.O_RDONLY | os.O_DIRECT)
    for _ in range(count):
        at = chance.randrange(0, len(whole) - size + 1, BLOCK)
        done = 0
        while done < size:
            got = os.preadv(fd, [memoryview(buffer)[done:]], at + done)
            if got == 0:
                break
            done += got
        if buffer[:] != whole[at : at + size]:
            raise ValueError(f"wrong data at {at}")
    os.close(fd)


def write_some(worker, _):
    name = f"written-{os.getpid()}-{worker}"
    data = random.Random(worker).randbytes(size * count)
    fd = os.open(os.path.join(mount, name), os.O_WRONLY | os.O_CREAT)
    for turn in range(count):
        part = data[turn * size : (turn + 1) * size]
        while part:
            part = part[os.write(fd, part) :]
    os.fsync(fd)
    os.close(fd)
    for folder in export, mount:
        with open(os.path.join(folder, name), "rb") as file:
            if file.read() != data:
                raise ValueError(f"{name} is not what was written")


def name_some(worker, _):
    folder = os.path.join(mount, f"names-{os.getpid()}-{worker}")
    os.mkdir(folder)
    for turn in range(count):
        one, other = (os.path.join(folder, f"{word}-{turn}") for word in ("one", "other"))
        with open(one, "w") as file:
            file.write(one)
        os.rename(one, other)
        with open(other) as file:
            if file.read() != one:
                raise ValueError(f"{other} has another text")
    if sorted(os.listdir(folder)) != sorted(f"other-{turn}" for turn in range(count)):
        raise ValueError(f"other names in {folder}")
    for turn in range(count):
        os.unlink(os.path.join(folder, f"other-{turn}"))
    os.rmdir(folder)


def leave_some(worker, whole):
    """Readers that are killed in the middle."""
    chance = random.Random(worker)
    for _ in range(count):
        reader = os.fork()
        if reader == 0:
            try:
                read_some(worker, whole)
            finally:
                os._exit(0)
        pause = threading.Event()
        pause.wait(chance.random() / 50)
        os.kill(reader, signal.SIGKILL)
        os.waitpid(reader, 0)
    read_some(worker, whole)


def guarded(work, worker, whole):
    try:
        work(worker, whole)
    except Exception as reason:
        failures.append(f"{kind} {worker}: {reason}")


work = {"reads": read_some, "writes": write_some, "names": name_some, "leaves": leave_some}[kind]
with open(source(), "rb") as file:
    content = file.read()
workers = [threading.Thread(target=guarded, args=(work, i, content)) for i in range(threads)]
for each in workers:
    each.start()
for each in workers:
    each.join()
print("\n".join(failures), end="\n" if failures else "")
sys.exit(1 if failures else 0)
