"""What is done on each contender: large and small I/O, and names.

A job is called with a folder of the mount, sizes, and a meter whose run() measures: what is done outside of it, to
prepare and to clean up, does not count. Each job leaves the folder as it found it; what is read is not in the
kernel's pages.
"""
import dataclasses
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import time

MIB = 1 << 20
SMALL = 4096
FILES = 2000  # of jobs on names: a mount takes 100 to 200 ms to find that it may look before it sleeps
FILES_FAR = 40  # where each waits for a round trip of milliseconds
TREE_FILES = 200
TREE_BYTES = 3000
MADE = itertools.count()


@dataclasses.dataclass
class Size:
    data: int       # bytes of the large file
    files: int      # of jobs on names
    seconds: float  # of jobs that run for a time
    served: pathlib.Path  # the folder that all contenders show


class Rate:
    """`amount` of `unit` in `seconds`, which took `operations`."""

    def __init__(self, amount, seconds, unit, operations):
        self.amount, self.seconds, self.unit, self.operations = amount, seconds, unit, operations

    @property
    def value(self):
        return self.amount / self.seconds


def timed(meter, amount, unit, work):
    def run():
        start = time.monotonic()
        work()
        return Rate(amount, time.monotonic() - start, unit, amount)
    return meter.run(run)


def forget(path):
    """Drops the kernel's pages of a file whose data is at the server."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def overwrite(path, total, block):
    data = memoryview(os.urandom(block))
    fd = os.open(path, os.O_WRONLY)
    for _ in range(total // block):
        os.write(fd, data)
    os.fsync(fd)
    os.close(fd)


def read_file(path, block=MIB):
    with open(path, "rb", buffering=0) as opened:
        memory = bytearray(block)
        while opened.readinto(memory):
            pass


def buffered_write(folder, size, meter):
    return timed(meter, size.data / MIB, "MiB/s", lambda: overwrite(folder / "data", size.data, 128 << 10))


def buffered_read(folder, size, meter):
    path = folder / "data"
    forget(path)
    return timed(meter, size.data / MIB, "MiB/s", lambda: read_file(path))


def fio(folder, way, block, depth, jobs, seconds):
    """Direct I/O on the data file; `depth` requests at a time of each of `jobs` threads."""
    command = ["fio", "--name=job", f"--filename={folder}/data", f"--rw={way}", f"--bs={block}", "--direct=1", "--thread",
               f"--numjobs={jobs}", "--group_reporting", "--time_based", f"--runtime={int(seconds * 1000)}ms", "--output-format=json",
               f"--iodepth={depth}", "--ioengine=" + ("libaio" if depth > 1 else "psync"), "--norandommap"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    side = json.loads(out[out.index("{"):])["jobs"][0]["read" if "read" in way else "write"]
    operations, took = side["total_ios"], side["runtime"] / 1000
    if block >= MIB:
        return Rate(operations * block / MIB, took, "MiB/s", operations)
    return Rate(operations, took, "op/s", operations)


def direct(way, block, depth=1, jobs=1):
    return lambda folder, size, meter: meter.run(lambda: fio(folder, way, block, depth, jobs, size.seconds))


def in_folder(work):
    """A job on a new directory, which is removed afterwards."""
    def run(folder, size, meter):
        where = folder / "names"
        where.mkdir()
        try:
            return work(where, size, meter)
        finally:
            shutil.rmtree(where)
    return run


def make(folder, count):
    for i in range(count):
        with open(folder / f"{i}", "wb") as opened:
            opened.write(b"n" * SMALL)


def create(folder, size, meter):
    return timed(meter, size.files, "files/s", lambda: make(folder, size.files))


def open_and_read(folder, size, meter):
    """Files that were listed and never read here: they are made behind the mount's back, in a folder of a new name."""
    made = size.served / f"made-{next(MADE)}"
    made.mkdir()
    try:
        make(made, size.files)
        where = folder / made.name
        for entry in os.scandir(where):
            entry.stat()
        return timed(meter, size.files, "files/s", lambda: [read_file(where / f"{i}", SMALL) for i in range(size.files)])
    finally:
        shutil.rmtree(made)


def unlink(folder, size, meter):
    make(folder, size.files)
    return timed(meter, size.files, "files/s", lambda: [os.unlink(folder / f"{i}") for i in range(size.files)])


def list_and_stat(folder, size, meter):
    make(folder, size.files)

    def work():
        with os.scandir(folder) as entries:
            for entry in entries:
                entry.stat()
    return timed(meter, size.files, "files/s", work)


def copy_tree(folder, size, meter):
    source = folder.parent.parent / "tree"  # in the memory that all are served from
    return timed(meter, len(os.listdir(source)), "files/s", lambda: shutil.copytree(source, folder / "copy"))


JOBS = {
    "write 128k, fsync": buffered_write,
    "read": buffered_read,
    "direct write 1M": direct("write", MIB),
    "direct read 1M": direct("read", MIB),
    "direct write 1M x32": direct("write", MIB, depth=32),
    "direct read 1M x16": direct("read", MIB, depth=16),
    "4k read": direct("randread", SMALL),
    "4k read x16": direct("randread", SMALL, jobs=16),
    "4k write": direct("randwrite", SMALL),
    "4k write x16": direct("randwrite", SMALL, jobs=16),
    "create 4k": in_folder(create),
    "open, read 4k": open_and_read,
    "ls -l": in_folder(list_and_stat),
    "unlink": in_folder(unlink),
    "cp -r": in_folder(copy_tree),
}
DATA_ONLY = [name for name, job in JOBS.items() if "4k read" in name or "4k write" in name or "direct" in name or name in ("read", "write 128k, fsync")]
PLAIN = [name for name in JOBS if name not in ("ls -l", "cp -r")]  # without attributes that are listed or set
