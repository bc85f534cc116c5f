#!/usr/bin/env bash
# A directory of 100,000 entries (NFSRDMA_NAMES for another number) is listed while this client and
# another one make and remove names in it: whatever was there all the time is listed once, with its
# own inode number; what was not there at any time is not listed; nothing fails.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
mount_export "" "$work/mnt2"
entries=${NFSRDMA_NAMES:-100000}

mkdir "$export/d"
(cd "$export/d" && seq -f 'stays-%06.0f' "$entries" | xargs touch)
python3 - "$mnt/d" "$work/mnt2/d" "$export/d" "$entries" <<'P'
import os, sys, threading
here, there, server, entries = *sys.argv[1:4], int(sys.argv[4])
made = removed = 0
over = threading.Event()

def churn(directory, mark):
    """Makes ten names and removes them again, until told to end."""
    global made, removed
    number = 0
    while not over.is_set():
        names = [f"{directory}/comes-and-goes-{mark}-{number + i}" for i in range(10)]
        for name in names: os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        made += len(names)
        for name in names: os.unlink(name)
        removed += len(names)
        number += len(names)

inodes = {e.name: e.inode() for e in os.scandir(server)}
threads = [threading.Thread(target=churn, args=a) for a in ((here, "here"), (there, "there"))]
for thread in threads: thread.start()
for at in (here, there, here):
    seen = {}
    changes = made + removed
    with os.scandir(at) as listing:
        for entry in listing:
            assert entry.name not in seen or not entry.name.startswith("stays-"), f"{entry.name} twice"
            seen[entry.name] = entry.inode()
    assert made + removed > changes, "nothing has changed meanwhile"
    stayed = {name: inode for name, inode in seen.items() if name.startswith("stays-")}
    assert stayed == inodes, f"{len(stayed)} entries of {entries}"
    for name in seen: assert name in inodes or name.startswith("comes-and-goes-"), name
over.set()
for thread in threads: thread.join()
assert made == removed
# Those that this client removed are gone here at once.
assert not [n for n in os.listdir(here) if n.startswith("comes-and-goes-here")]
P
same "$entries" "$(ls -U "$export/d" | wc -l)" "entries left"
