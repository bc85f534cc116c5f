#!/usr/bin/env bash
# What the caches answer by themselves, and what makes them ask: counted at the server. Own changes
# leave them as they are; another client's are seen at the next open, lock, or stat.
counts_caches=yes
. "$(dirname "$0")/lib.sh"
start_responder
mount_export "acregmin=1,acregmax=4,acdirmin=1,acdirmax=4"
mount_export "acregmin=1" "$work/mnt2"
mount_export "actimeo=600" "$work/mnt3"
mount_export "actimeo=600,lookupcache=pos" "$work/mnt4"
mount_export "actimeo=600,nocto" "$work/mnt5"
other=$work/mnt2 slow=$work/mnt3 positive=$work/mnt4 lax=$work/mnt5

# unasked OPERATION what command...: the server does not hear of it.
unasked() {
  local operation=$1 what=$2 before
  shift 2
  before=$(served "$operation")
  "$@" >/dev/null
  same "$before" "$(served "$operation")" "$operation: $what"
}
read_all() { cmp "$export/own" "$mnt/own"; }

# Written, looked at, closed, opened, overwritten in part: its own pages are never read again.
head -c 4M /dev/urandom >"$work/source"
cat >"$work/own.py" <<'P'
import os, sys
name, source = sys.argv[1], open(sys.argv[2], "rb").read()
fd = os.open(name, os.O_CREAT | os.O_RDWR)
for at in range(0, len(source), 1 << 20):
    os.pwrite(fd, source[at:at + (1 << 20)], at)
    os.fstat(fd)
assert os.pread(fd, len(source), 0) == source
os.pwrite(fd, source[:8192], 4096 * 5)
os.pwrite(fd, source[:200000], 4096 * 100)
assert os.stat(name).st_size == len(source)
os.close(fd)
os.chmod(name, 0o640)
fd = os.open(name, os.O_RDONLY)
data = os.read(fd, len(source))
os.fstat(fd)
assert data[4096 * 5:4096 * 5 + 8192] == source[:8192]
os.close(fd)
P
unasked READ "own writes, stat, close, open" python3 "$work/own.py" "$mnt/own" "$work/source"
# Of pages that nobody has used for a while the kernel may take some by itself (DAMON's pageout does on some machines), but
# none that are locked in memory. A mount that drops pages drops those, too.
cat >"$work/locked.py" <<'P'
import ctypes, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
libc.mlock.argtypes = ctypes.c_void_p, ctypes.c_size_t
fd = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(fd).st_size
pages = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
if libc.mlock(pages, size) != 0: sys.exit(f"mlock: {os.strerror(ctypes.get_errno())}")
print("locked", flush=True)
sys.stdin.read()
P
coproc locked { python3 "$work/locked.py" "$mnt/own"; }
locked_pid=$locked_PID
read -r <&"${locked[0]}" || fail "the pages could not be locked"
unasked READ "again" read_all
cmp "$export/own" "$mnt/own"
exec {locked[1]}>&-
wait "$locked_pid"

# Attributes: as long as they are believed the server is not asked; the size of another client's file is
# seen when that is over.
echo first >"$mnt/f"
cat "$slow/f" >/dev/null
unasked GETATTR "a file that is known" stat "$slow/f"
echo "second and longer" >>"$mnt/f"
same 6 "$(stat -c %s "$slow/f")" "the size that is remembered"
unasked GETATTR "still believed" stat "$slow/f"
same 24 "$(wc -c <"$slow/f")" "the size after opening it"
same 24 "$(stat -c %s "$slow/f")" "and from then on"

# nocto changes nothing: the open that goes to the server in any case says what another client has
# written.
echo first >"$mnt/opened"
cat "$lax/opened" >/dev/null
opens=$(served OPEN)
unasked READ "a file that is the same" cat "$lax/opened"
same $((opens + 1)) "$(served OPEN)" "opens that the server hears of with nocto"
echo "second and longer" >"$mnt/opened"
same "second and longer" "$(cat "$lax/opened")" "written elsewhere, with nocto"

# Names that are there, and names that are not.
for at in "$slow" "$positive"; do
  [ ! -e "$at/later" ] || fail "later is early"
done
touch "$mnt/later"
[ ! -e "$slow/later" ] || fail "a missed name is remembered, unless lookupcache says otherwise"
[ -e "$positive/later" ] || fail "lookupcache=pos remembers a name that is not there"
unasked LOOKUP "a name that is there" stat "$positive/later"
rm "$mnt/later"
[ -e "$positive/later" ] || fail "a name that was there is not remembered"

# A file that stays open: another client's change drops the pages at the first stat after the
# attributes' time, and no other.
head -c 300000 /dev/zero | tr '\0' a >"$mnt/held"
python3 - "$mnt/held" "$other/held" <<'P'
import os, sys, time
here, there = sys.argv[1:]
fd = os.open(here, os.O_RDWR)
size = 300000
assert os.pread(fd, size, 0) == b"a" * size
def until(what, condition):
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline: sys.exit("never seen: " + what)
        time.sleep(0.05)
def rewrite(letter):
    with open(there, "r+b") as f: f.write(letter * size)
def seen(letter):
    os.fstat(fd)
    return os.pread(fd, size, 0) == letter * size
for letter in (b"b", b"c", b"d"):
    rewrite(letter)
    until(f"{letter} by a file that stays open", lambda: seen(letter))
# And when the file is only read: the pages are no older than acregmax.
rewrite(b"p")
until("a change by a file that is only read", lambda: os.pread(fd, size, 0) == b"p" * size)
# The same with a write of ours in between, which must not pass for the whole change.
rewrite(b"e")
os.pwrite(fd, b"E" * 4096, 0)
until("a change before our own write", lambda: os.fstat(fd) and os.pread(fd, size, 0) ==
      b"E" * 4096 + b"e" * (size - 4096))
# And if no program looks: at the next open.
rewrite(b"f")
os.pwrite(fd, b"F" * 4096, 0)
os.close(fd)
with open(here, "rb") as f: data = f.read()
assert data == b"F" * 4096 + b"f" * (size - 4096), data[:10]
# Cut off and made longer elsewhere.
os.truncate(there, 5000)
with open(here, "rb") as f: assert f.read() == b"F" * 4096 + b"f" * 904
with open(there, "ab") as f: f.write(b"appended")
with open(here, "rb") as f: assert f.read()[5000:] == b"appended"
P
