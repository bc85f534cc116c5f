#!/usr/bin/env bash
# fsync(2) shows what others have written and synced before, as MPI-IO's sync-barrier-sync needs it: each of two processes writes
# and reads through a file that it keeps open, and they tell each other only "it is written".
. "$(dirname "$0")/lib.sh"
start_responder
mount_export acregmin=60,acregmax=60
mount_export acregmin=60,acregmax=60 "$work/other"

python3 - "$mnt/f" "$work/other/f" <<'P' || fail "see above"
import os, sys
paths = sys.argv[1:]
BLOCK, ROUNDS = 10000, 12
with open(paths[0], "wb") as file: file.write(b"0" * BLOCK * 2)
files = [os.open(path, os.O_RDWR) for path in paths]
for fd in files: os.pread(fd, 2 * BLOCK, 0)  # pages of before, which all are told to be good for a minute
wrong = 0
for turn in range(ROUNDS):
    letter = b"%c" % (ord("a") + turn)
    writer, reader = files[turn % 2], files[1 - turn % 2]
    os.pwrite(writer, letter * BLOCK, BLOCK * (turn % 2))
    os.fsync(writer)
    # The reader has written, or has not.
    if turn % 3 == 0: os.pwrite(reader, b"own", 2 * BLOCK + 100)
    os.fsync(reader)
    found = os.pread(reader, BLOCK, BLOCK * (turn % 2))
    if found != letter * BLOCK:
        wrong += 1
        print(f"turn {turn}: {found[:1]!r} instead of {letter!r}")
if wrong: sys.exit(f"{wrong} of {ROUNDS} blocks are old")
# What has become longer and shorter meanwhile is as long as it is.
os.ftruncate(files[0], 5)
os.fsync(files[0])
os.fsync(files[1])
if os.pread(files[1], BLOCK, 0) != b"k" * 5: sys.exit("a file that another client has made shorter")
P
