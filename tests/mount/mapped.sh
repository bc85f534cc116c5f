#!/usr/bin/env bash
# mmap(2): shared and private, read and written, with msync, munmap and close in any order.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

python3 - "$mnt/f" "$export/f" <<'PY'
import mmap, os, sys
path, at_server = sys.argv[1:]
size = 3 * 1024 * 1024 + 777
with open(path, "wb") as f:
    f.write(os.urandom(size))
original = open(at_server, "rb").read()
fd = os.open(path, os.O_RDWR)
shared = mmap.mmap(fd, size)
assert shared[:] == original
shared[100:105] = b"HELLO"
shared[size - 5:] = b"WORLD"
shared.flush()
now = open(at_server, "rb").read()
assert now[100:105] == b"HELLO" and now[-5:] == b"WORLD" and now[200:1000] == original[200:1000]
private = mmap.mmap(fd, size, flags=mmap.MAP_PRIVATE)
private[0:4] = b"mine"
assert shared[0:4] == original[0:4]
# Unmapped after the descriptor is closed.
os.close(fd)
shared[4096:4100] = b"late"
shared.close()
private.close()
with open(path, "r+b") as f:
    f.seek(8192)
    f.write(b"written")
    f.flush()
    again = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    assert again[4096:4100] == b"late" and again[8192:8199] == b"written"
    again.close()
PY
cmp "$mnt/f" "$export/f"
