#!/usr/bin/env bash
# Appends to a file that another client has appended to: what the kernel put where it took the end to be
# is not what others of its mount read there; nor do they miss what was put at the end.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export acregmin=1,acregmax=1
mount_export "" "$work/mnt2"

cat >"$work/appends.py" <<'PY'
import control, os, sys
here, there, socket, name, size = sys.argv[1:]
SIZE, LARGE = int(size), b"large " * 5000

def reads():
    return control.counter(socket, "op_READ")

def until_read_again(fd):
    """Pages that another client's change has made old have gone; the kernel is not told the new size."""
    before = reads()
    while reads() == before:
        os.pread(fd, 10, SIZE - 10)

path = f"{here}/{name}"
reader = os.open(path, os.O_RDONLY)
log = os.open(path, os.O_WRONLY | os.O_APPEND)
expected = os.pread(reader, SIZE + 1, 0)
assert len(expected) == SIZE
for text in (b"short", b"another", LARGE, b"x" * 4096, b"last"):
    with open(f"{there}/{name}", "ab") as f:
        f.write(b"elsewhere ")
    until_read_again(reader)
    assert os.write(log, text) == len(text)
    expected += b"elsewhere " + text
    found = os.pread(reader, len(expected) + 1, 0)
    if found != expected:
        at = next(i for i in range(len(expected)) if found[i:i + 1] != expected[i:i + 1])
        sys.exit(f"{name}: after appending {text[:10]}, at {at} of {len(found)}: {found[at:at + 30]}, "
                 f"expected {len(expected)}: {expected[at:at + 30]}")
PY
for size in 100 4090 4096 5000 8192; do
  head -c $size /dev/zero | tr '\0' a >"$export/f$size"
  python3 "$work/appends.py" "$mnt" "$work/mnt2" "$work/control" f$size $size
done

# The same with pages that the kernel has not read: it keeps nothing of what it has put into them.
python3 - "$mnt" "$work/mnt2" <<'PY'
import fcntl, os, sys
files = [os.open(f"{at}/turns", os.O_CREAT | os.O_RDWR | os.O_APPEND) for at in sys.argv[1:]]
expected = b""
for i in range(100):
    fd = files[i % 2]
    fcntl.lockf(fd, fcntl.LOCK_EX)
    text = f"turn {i} ".encode() * 20
    os.write(fd, text)
    expected += text
    if i % 10 > 7:
        assert os.pread(fd, len(expected) + 1, 0) == expected, i
    fcntl.lockf(fd, fcntl.LOCK_UN)
PY
# Appends do not wait for pages that cannot go before their answer: of 125 most would. A few may, on a machine so busy
# that the thread which drops a page does not come to it within half a second.
in_vain=$(($(counter fs_drops_given_up) + $(counter fs_drops_given_up 1)))
[ $in_vain -le 10 ] || fail "pages waited for in vain: $in_vain"

# Appends reach the server one after the other: a reader elsewhere that follows a log finds no hole in it.
control fault nfsstat=NFS4ERR_DELAY:op=WRITE:times=1 >/dev/null
python3 - "$mnt/followed" "$export/followed" <<'PY'
import os, sys, threading
SMALL, LARGE = b"gathered " * 20, b"sent at once " * 30000
log = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
def append():
    os.write(log, SMALL)
    os.write(log, LARGE)
    os.close(log)
writer = threading.Thread(target=append)
writer.start()
found = b""
while len(found) < len(SMALL + LARGE):
    with open(sys.argv[2], "rb") as f:
        found = f.read()
    if found != (SMALL + LARGE)[:len(found)]:
        sys.exit(f"a hole: {found[:20]} in {len(found)} bytes")
writer.join()
PY

# Appends of one client to what only it changes cost no more than other writes.
notified=$(counter fs_notifications)
writes=$(served WRITE)
reads=$(served READ)
python3 - "$mnt/own" <<'PY'
import os, sys
log = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for i in range(10000):
    os.write(log, b"a line of a log, written alone\n")
os.close(log)
PY
[ $(($(served WRITE) - writes)) -le 100 ] || fail "WRITE: 10,000 appends"
same 0 $(($(served READ) - reads)) "READ: 10,000 appends"
same 0 $(($(counter fs_notifications) - notified)) "notifications: 10,000 appends"
same 310000 "$(stat -c %s "$export/own")" "size after 10,000 appends"
