#!/usr/bin/env bash
# What a program has written is read by others of its mount from then on, also while another mount changes
# the file elsewhere, so that pages are dropped and read again while writes are under way.
# NFSRDMA_ROUNDS (1500).
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
mount_export "" "$work/other"
timeout 150 python3 - "${NFSRDMA_ROUNDS:-1500}" "$mnt/f" "$work/other/f" <<'PY' || fail "see above"
import mmap, multiprocessing, os, sys
from multiprocessing.sharedctypes import RawValue

rounds, first, other = int(sys.argv[1]), *sys.argv[2:4]
PAGES = 128  # that the writer writes, in one WRITE; one more page is the other mount's
SIZE = PAGES * mmap.PAGESIZE
READS = 10  # of a reader before it opens the file anew
fork = multiprocessing.get_context("fork")
written, over, wrong = RawValue("q", 0), RawValue("i", 0), RawValue("i", 0)

def read(fd, mapped):
    if not mapped:
        return os.pread(fd, SIZE, 0)
    with mmap.mmap(fd, SIZE, mmap.MAP_SHARED, mmap.PROT_READ) as memory:
        return memory[:]

def reader(mapped):
    while not over.value:
        fd = os.open(first, os.O_RDONLY)
        for _ in range(READS):
            least = written.value
            data = read(fd, mapped)
            found = {int.from_bytes(data[at:at + 8], "big") for at in range(0, SIZE, mmap.PAGESIZE)}
            if min(found) < least:
                print(f"read {min(found)} to {max(found)}, expected {least} at least", flush=True)
                wrong.value += 1
        os.close(fd)

def changer():
    while not over.value:
        fd = os.open(other, os.O_WRONLY)
        os.pwrite(fd, os.urandom(8), SIZE)
        os.close(fd)

with open(first, "wb") as made:
    made.write(bytes(SIZE + mmap.PAGESIZE))
helpers = [fork.Process(target=changer)] + [fork.Process(target=reader, args=(m,)) for m in (False, True)]
for helper in helpers:
    helper.start()
fd = os.open(first, os.O_RDWR | os.O_SYNC)
for generation in range(1, rounds + 1):
    os.pwrite(fd, (generation.to_bytes(8, "big") + bytes(mmap.PAGESIZE - 8)) * PAGES, 0)
    written.value = generation
os.close(fd)
over.value = 1
for helper in helpers:
    helper.join()
sys.exit(wrong.value > 0 or any(helper.exitcode for helper in helpers))
PY
