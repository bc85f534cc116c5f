#!/usr/bin/env bash
# Flags of one write: RWF_NOAPPEND (Linux 6.9; pwrite(3) of musl) writes at its offset through a descriptor with O_APPEND.
# RWF_APPEND goes to the end that the kernel knows, which under a lock is the end.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
mount_export "" "$work/other"

python3 - "$mnt" "$work/other" "$export" <<'P' || fail "see above"
import errno, fcntl, mmap, os, sys
here, there, served = sys.argv[1:]
RWF_APPEND, RWF_NOAPPEND = 0x10, 0x20
PAGE = 4096
wrong = 0

def check(what, found, wanted):
    global wrong
    if found == wanted: return
    wrong += 1
    print(f"{what}: {found!r} instead of {wanted!r}")

def content(name):
    with open(served + name, "rb") as file: return file.read()

def write(fd, data, offset, flags):
    return os.pwritev(fd, [data], offset, flags)

def block(letter):
    memory = mmap.mmap(-1, PAGE)  # aligned, as O_DIRECT wants it
    memory.write(letter * PAGE)
    return memory

def known_by_kernel():
    fd = os.open("/tmp", os.O_RDWR | os.O_TMPFILE)
    try:
        write(fd, b"a", 0, RWF_NOAPPEND)
        return True
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL): raise
        return False
    finally:
        os.close(fd)

def no_append(flags, what):
    name = f"/no-append-{flags}"
    with open(here + name, "wb") as file: file.write(b"0" * 4 * PAGE)
    fd = os.open(here + name, os.O_RDWR | os.O_APPEND | flags)
    a, b = block(b"A"), block(b"B")
    check(f"{what}: written", write(fd, a, PAGE, RWF_NOAPPEND), PAGE)
    os.write(fd, b)  # an append is one, before and after
    check(f"{what}: written again", write(fd, b, 2 * PAGE, RWF_NOAPPEND), PAGE)
    os.write(fd, a)
    os.fsync(fd)
    os.close(fd)
    letters = content(name)[::PAGE]
    check(f"{what}: the file", (letters, len(content(name))), (b"0AB0BA", 6 * PAGE))
    with open(here + name, "rb") as file: check(f"{what}: read", file.read()[::PAGE], b"0AB0BA")

if known_by_kernel():
    for flags, what in ((0, "buffered"), (os.O_DIRECT, "O_DIRECT"), (os.O_SYNC, "O_SYNC")): no_append(flags, what)
else:
    print("this kernel has no RWF_NOAPPEND")

# Another client has made the file longer, and then shorter: appends go to its end all the same.
with open(here + "/f", "wb") as file: file.write(b"0123456789")
fd = os.open(here + "/f", os.O_WRONLY | os.O_APPEND)
for size, wanted in ((20, b"0123456789" + bytes(10) + b"end"), (4, b"0123end")):
    os.truncate(there + "/f", size)
    os.stat(here + "/f")
    fcntl.lockf(fd, fcntl.LOCK_EX)
    os.write(fd, b"end")
    fcntl.lockf(fd, fcntl.LOCK_UN)
    check(f"an append after a change to {size} bytes", content("/f"), wanted)
os.close(fd)

# RWF_APPEND without O_APPEND: in turn under a lock.
with open(here + "/g", "wb") as file: file.write(b"first ")
a, b = (os.open(at + "/g", os.O_RDWR) for at in (here, there))
for turn in range(6):
    fd = (a, b)[turn % 2]
    fcntl.lockf(fd, fcntl.LOCK_EX)
    write(fd, b"%d" % turn, 0, RWF_APPEND)
    fcntl.lockf(fd, fcntl.LOCK_UN)
check("RWF_APPEND under a lock", content("/g"), b"first 012345")
if wrong: sys.exit(f"{wrong} lines are wrong")
P
