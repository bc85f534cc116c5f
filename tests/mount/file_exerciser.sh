#!/usr/bin/env bash
# Random reads, writes, appends, truncations, mappings, descriptors and syncs of one file against a
# model in memory. NFSRDMA_STEPS steps (default 6000), NFSRDMA_SEED for another sequence.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
python3 - "$mnt/f" "$export/f" "${NFSRDMA_STEPS:-6000}" "${NFSRDMA_SEED:-1}" <<'P'
import mmap, os, random, sys
name, server, steps, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
random.seed(seed)
LARGEST = 3 << 20
PAGE = mmap.PAGESIZE
model = bytearray()
files = [os.open(name, os.O_CREAT | os.O_RDWR)]
history = []

def wrong(what):
    sys.exit(f"seed {seed}, step {len(history)}: {what}\n" + "\n".join(map(str, history[-20:])))

def check(found, start):
    expected = bytes(model[start:start + len(found)]) if found else b""
    if found != expected:
        at = next(i for i in range(len(found)) if found[i:i + 1] != expected[i:i + 1])
        wrong(f"byte {start + at} of {len(model)} differs, from {start}")

def place():
    return random.randrange(LARGEST // 2) if random.random() < 0.2 else random.randrange(len(model) + 1)

def length():
    return random.choice((1, random.randrange(1, 600), 4096, random.randrange(1, 20000),
                          random.randrange(60000, 70000), random.randrange(1, 400000)))

def put(at, data):
    if at > len(model): model.extend(bytes(at - len(model)))
    model[at:at + len(data)] = data

def write():
    at, data = place(), random.randbytes(length())
    history.append(("write", at, len(data)))
    done = os.pwrite(random.choice(files), data, at)
    if done != len(data): wrong("a short write")
    put(at, data)

def sequence():
    at = place()
    history.append(("writes in sequence", at))
    for _ in range(random.randrange(1, 40)):
        data = random.randbytes(random.randrange(1, 9000))
        os.pwrite(random.choice(files), data, at)
        put(at, data)
        at += len(data)

def append():
    fd = os.open(name, os.O_WRONLY | os.O_APPEND)
    data = random.randbytes(random.randrange(1, 5000))
    history.append(("append", len(model), len(data)))
    os.write(fd, data)
    os.close(fd)
    put(len(model), data)

def read():
    at, size = place(), length()
    history.append(("read", at, size))
    found = os.pread(random.choice(files), size, at)
    if len(found) != max(0, min(size, len(model) - at)): wrong(f"{len(found)} bytes read")
    check(found, at)

def truncate():
    size = random.choice((0, random.randrange(len(model) + 1), random.randrange(LARGEST // 2)))
    history.append(("truncate", size))
    if random.random() < 0.5: os.ftruncate(random.choice(files), size)
    else: os.truncate(name, size)
    if size < len(model): del model[size:]
    else: model.extend(bytes(size - len(model)))

def mapped(writing):
    if not model: return
    first = random.randrange(len(model)) // PAGE * PAGE
    size = min(random.randrange(1, 200000), len(model) - first)
    history.append(("mapped", writing, first, size))
    with mmap.mmap(random.choice(files), size, mmap.MAP_SHARED, offset=first) as m:
        check(m[:], first)
        if not writing: return
        at = random.randrange(size)
        data = random.randbytes(min(length(), size - at))
        m[at:at + len(data)] = data
        put(first + at, data)
        if random.random() < 0.3: m.flush()

def size():
    history.append(("size",))
    found = os.stat(name).st_size if random.random() < 0.5 else os.fstat(files[0]).st_size
    if found != len(model): wrong(f"size {found} instead of {len(model)}")

def sync():
    history.append(("sync",))
    os.fsync(random.choice(files))

def reopen():
    history.append(("reopen",))
    if len(files) < 3: files.append(os.open(name, os.O_RDWR))
    else: os.close(files.pop(random.randrange(len(files))))

ways = ([write] * 6 + [sequence] * 3 + [append] * 2 + [read] * 6 + [truncate] + [size] * 2 + [sync] +
        [reopen] * 2 + [lambda: mapped(True)] * 2 + [lambda: mapped(False)])
for _ in range(steps):
    random.choice(ways)()
    if len(model) > LARGEST: truncate()
for fd in files: os.close(fd)
with open(name, "rb") as f:
    if f.read() != model: wrong("the whole file")
with open(server, "rb") as f:
    if f.read() != model: wrong("the whole file at the server")
P
