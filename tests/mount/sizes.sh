#!/usr/bin/env bash
# Append, truncate, holes, large offsets: sizes and contents as on a local file system.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

python3 - "$mnt/f" "$export/f" <<'PY'
import os, sys
path, at_server = sys.argv[1:]
with open(path, "wb") as f:
    f.write(b"a" * 10)
with open(path, "ab") as f:
    f.write(b"b" * 10)
with open(path, "ab") as f, open(path, "ab") as g:
    f.write(b"c"); f.flush()
    g.write(b"d"); g.flush()
    f.write(b"e"); f.flush()
assert open(path, "rb").read() == b"a" * 10 + b"b" * 10 + b"cde"
os.truncate(path, 5)
assert open(path, "rb").read() == b"aaaaa"
os.truncate(path, 9)
assert open(path, "rb").read() == b"aaaaa" + bytes(4)
with open(path, "wb"):
    pass
assert os.stat(path).st_size == 0

# A hole of 1 GiB takes no room.
fd = os.open(path, os.O_RDWR)
os.pwrite(fd, b"end", 1 << 30)
os.fsync(fd)
assert os.fstat(fd).st_size == (1 << 30) + 3
assert os.fstat(fd).st_blocks * 512 < 1 << 20, os.fstat(fd).st_blocks
assert os.pread(fd, 4096, 12345) == bytes(4096)
assert os.pread(fd, 10, (1 << 30) - 2) == b"\0\0end"
assert os.pread(fd, 10, 1 << 31) == b""
os.ftruncate(fd, 100)
os.pwrite(fd, b"z", 200)
assert os.pread(fd, 300, 0) == bytes(200) + b"z"

# Writes that cut into each other, each checked against a model, then against the server.
import random
random.seed(1)
model = bytearray(os.pread(fd, 300, 0))
for step in range(300):
    if random.random() < 0.2:
        size = random.randrange(0, 300000)
        os.ftruncate(fd, size)
        del model[size:]
        model.extend(bytes(size - len(model)))
    else:
        offset = random.randrange(0, 300000)
        data = random.randbytes(random.choice([1, 10, 4096, 70000]))
        os.pwrite(fd, data, offset)
        if len(model) < offset:
            model.extend(bytes(offset - len(model)))
        model[offset:offset + len(data)] = data
    if step % 50 == 49:
        os.fsync(fd)
        assert open(at_server, "rb").read() == model, step
    probe = random.randrange(0, len(model) + 1)
    assert os.pread(fd, 5000, probe) == model[probe:probe + 5000], step
os.close(fd)
assert open(path, "rb").read() == model
assert open(at_server, "rb").read() == model
PY
