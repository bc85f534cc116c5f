#!/usr/bin/env bash
# Small writes are gathered and sent together, and every reader sees them all the same.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
mount_export "" "$work/mnt2"
other=$work/mnt2

# asked OPERATION COUNT what: it was served so often since the last note.
note() { writes=$(served WRITE) commits=$(served COMMIT) reads=$(served READ); }
asked() {
  local now
  now="$(($(served WRITE) - writes)) $(($(served COMMIT) - commits)) $(($(served READ) - reads))"
  same "$1" "$now" "WRITE, COMMIT, READ: $2"
}

# in_sequence BLOCKS "what" argument of dd...: one WRITE for each block of wsize (1 MiB), whatever the size of a write.
# One more where a block was not full within a second: not more often than once a second.
in_sequence() {
  local blocks=$1 what=$2 took written
  shift 2
  note
  SECONDS=0
  dd "$@" status=none
  took=$SECONDS written=$(($(served WRITE) - writes))
  { [ "$written" -ge "$blocks" ] && [ "$written" -le $((blocks + took)) ]; } || fail "$what: $written WRITEs in $took s"
}
in_sequence 64 "64 MiB in writes of 4 KiB" if=/dev/zero of="$mnt/sequence" bs=4096 count=$((64 << 8))
[ $(($(served COMMIT) - commits)) -le 4 ] || fail "COMMIT: 64 MiB in writes of 4 KiB"
cmp "$mnt/sequence" "$export/sequence"
in_sequence 10 "10 MB in writes of 1000 bytes" if=/dev/urandom of="$mnt/odd" bs=1000 count=10000
same "1 0" "$(($(served COMMIT) - commits)) $(($(served READ) - reads))" "COMMIT, READ: 10 MB in writes of 1000 bytes"
cmp "$mnt/odd" "$export/odd"
same $(((64 << 20) + 10000000)) "$(counter cache_bytes_gathered)" "bytes gathered"

# Small files: one WRITE that is durable, no COMMIT.
mkdir "$mnt/many"
note
for i in $(seq 1000); do echo "file $i" >"$mnt/many/$i"; done
asked "1000 0 0" "1000 small files"
for i in 1 500 1000; do same "file $i" "$(cat "$export/many/$i")" "small file"; done

# Everything that needs the server to have the data sends it; sizes and times are right before.
python3 - "$mnt" "$export" "$other" <<'PY'
import fcntl, os, sys, time
mnt, export, other = sys.argv[1:]

def at_server(name):
    with open(f"{export}/{name}", "rb") as f:
        return f.read()

def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: expected {expected!r}, found {found!r}")

def check_given_up(what, expected):
    """A lock under a write delegation is a matter of this mount alone, and needs nothing at the server."""
    if "--delegations" not in os.environ.get("NFSRDMA_RESPONDER_OPTIONS", ""):
        check(what, at_server("f")[:len(expected)], expected)

fd = os.open(f"{mnt}/f", os.O_CREAT | os.O_RDWR)
def write(text):
    os.write(fd, text)

write(b"one ")
check("size of an open file", os.fstat(fd).st_size, 4)
check("after stat", at_server("f"), b"one ")
write(b"two ")
check("read back", os.pread(fd, 100, 0), b"one two ")
check("after read", at_server("f"), b"one two ")
write(b"three ")
os.fsync(fd)
check("after fsync", at_server("f"), b"one two three ")
write(b"four ")
os.utime(fd, (1000, 1000))
check("time that was set", os.stat(f"{mnt}/f").st_mtime, 1000)
check("after utime", at_server("f"), b"one two three four ")
os.close(fd)
check("time after close", os.stat(f"{mnt}/f").st_mtime, 1000)

fd = os.open(f"{mnt}/f", os.O_RDWR | os.O_TRUNC)
write(b"abcdef")
os.ftruncate(fd, 3)
check("cut", at_server("f"), b"abc")
os.pwrite(fd, b"Z", 2)
os.pwrite(fd, b"Y", 0)
os.pwrite(fd, b"far", 100000)
second = os.open(f"{mnt}/f", os.O_RDONLY)
check("size elsewhere", os.fstat(second).st_size, 100003)
check("seen elsewhere", os.pread(second, 3, 0), b"YbZ")
check("far away", os.pread(second, 3, 100000), b"far")
os.close(second)
fcntl.lockf(fd, fcntl.LOCK_EX)
os.pwrite(fd, b"locked", 0)
fcntl.lockf(fd, fcntl.LOCK_UN)
check_given_up("after unlock", b"locked")
os.pwrite(fd, b"flocke", 0)
fcntl.flock(fd, fcntl.LOCK_EX)
check_given_up("after flock", b"flocke")
fcntl.flock(fd, fcntl.LOCK_UN)
os.pwrite(fd, b"rename", 0)
os.rename(f"{mnt}/f", f"{mnt}/g")
check("after rename", at_server("g")[:6], b"rename")
os.pwrite(fd, b"unlink", 0)
os.unlink(f"{mnt}/g")
check("of an unlinked file", os.pread(fd, 6, 0), b"unlink")
os.close(fd)

# Written through one descriptor, read through another, while more is gathered all the time.
a = os.open(f"{mnt}/log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
b = os.open(f"{mnt}/log", os.O_WRONLY | os.O_APPEND)
expected = b""
for i in range(500):
    line = f"line {i}\n".encode()
    os.write(a if i % 3 else b, line)
    expected += line
    if i % 50 == 0: check("log so far", open(f"{mnt}/log", "rb").read(), expected)
os.close(b)
check("another descriptor was closed", at_server("log"), expected)
os.close(a)

# Overwritten before it is sent, forwards and backwards, in small and in large pieces.
import random
random.seed(4)
model = bytearray(3 << 20)
fd = os.open(f"{mnt}/random", os.O_CREAT | os.O_RDWR)
os.truncate(fd, len(model))
for i in range(3000):
    size = random.choice((1, 100, 4096, 5000, 65535, 65536, 300000))
    place = random.choice((0, 1 << 20, random.randrange(len(model)))) 
    size = min(size, len(model) - place)
    data = random.randbytes(size)
    os.pwrite(fd, data, place)
    model[place:place + size] = data
    if i % 300 == 0: check("random writes", os.pread(fd, len(model), 0), bytes(model))
os.close(fd)
check("random writes", at_server("random"), bytes(model))

# Not gathered: the caller asked for the server.
for flags in (os.O_SYNC, os.O_DSYNC):
    fd = os.open(f"{mnt}/sync", os.O_CREAT | os.O_WRONLY | flags)
    os.write(fd, b"durable")
    check("O_SYNC", at_server("sync"), b"durable")
    os.close(fd)
    os.unlink(f"{mnt}/sync")

# No program asks: sent all the same, soon.
fd = os.open(f"{mnt}/alone", os.O_CREAT | os.O_WRONLY)
os.write(fd, b"alone")
deadline = time.monotonic() + 30
while at_server("alone") != b"alone":
    if time.monotonic() > deadline: sys.exit("what was gathered is never sent")
    time.sleep(0.05)
os.close(fd)

# Two clients append in turns, under a lock.
files = [os.open(f"{at}/turns", os.O_CREAT | os.O_WRONLY | os.O_APPEND) for at in (mnt, other)]
expected = b""
for i in range(100):
    fd = files[i % 2]
    fcntl.lockf(fd, fcntl.LOCK_EX)
    for part in range(3):
        text = f"{i}.{part}\n".encode()
        os.write(fd, text)
        expected += text
    fcntl.lockf(fd, fcntl.LOCK_UN)
for fd in files: os.close(fd)
check("appended in turns", at_server("turns"), expected)
PY

# A process that is killed leaves what it wrote.
python3 -c "
import os, signal
fd = os.open('$mnt/killed', os.O_CREAT | os.O_WRONLY)
os.write(fd, b'last words')
os.kill(os.getpid(), signal.SIGKILL)" || true
wait_for "the data of a killed process" sh -c "[ \"\$(cat '$export/killed')\" = 'last words' ]"

# A mount that ends sends what it has.
exec 5>"$mnt/at_end"
echo "the end" >&5
kill -TERM "${mount_pids[0]}"
wait_for "the data of a mount that was ended" sh -c "[ \"\$(cat '$export/at_end')\" = 'the end' ]"
exec 5>&- || true
wait "${mount_pids[0]}" || fail "the daemon failed"
mount_pids[0]=
