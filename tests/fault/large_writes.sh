#!/usr/bin/env bash
# Large writes that were answered and are on their way, many at a time, survive lost connections and reboots; what fails
# among them is told; a mount that is ended sends them.
. "$(dirname "$0")/lib.sh"
start_responder --lease 5
mount_export

cat >"$work/writer.py" <<'P'
import control, os, random, sys
here, model, seed, socket, *strike = sys.argv[1:]
random.seed(int(seed))
noise = random.randbytes(8 << 20)
text = bytearray()
fd = os.open(here, os.O_CREAT | os.O_RDWR)
i = 0
while len(text) < 256 << 20:
    size = random.choice((4096, 128 << 10, 256 << 10, 500000, 1 << 20, 3 << 20))
    start = random.randrange(len(noise) - size)
    data = noise[start:start + size]
    place = len(text) if i % 8 else random.randrange(len(text) + 1)
    if os.pwrite(fd, data, place) != size: sys.exit("a short write")
    text[place:place + size] = data
    if i % 100 == 99:
        place = random.randrange(len(text))
        if os.pread(fd, 300000, place) != text[place:place + 300000]: sys.exit("read back")
    # Not by another process: its end would flush the file, and nothing would be left to be lost.
    if strike and i % 60 == 30: control.send(socket, " ".join(strike))
    i += 1
os.close(fd)
open(model, "wb").write(text)
P

# strike NAME CONTROL...: now and then while 256 MiB are written.
strike() {
  local name=$1
  shift
  python3 "$work/writer.py" "$mnt/$name" "$work/model" 1 "$work/control" "$@" || fail "$name: the writer"
  cmp "$work/model" "$export/$name" || fail "$name: the data"
  rm "$mnt/$name" "$work/model"
}
sent_again() { grep -c 'the server has restarted: .* writes are sent again' "$work/mount0.log" || true; }
strike disconnect disconnect
[ "$(sent_again)" = 0 ] || fail "nothing was lost, and writes were sent again"
strike reboot reboot 0
[ "$(sent_again)" -gt 0 ] || fail "nothing was lost"
strike grace reboot 1
[ "$(counter cache_writes_taken_over)" -ge 100 ] || fail "large writes were not answered early"

# failing STATUS ERRNO: in the middle of many writes; a program is told, and afterwards all can be written again.
failing() {
  python3 - "$mnt/full" "$1" "$2" "$work/control" <<'P' || fail "$1"
import control, errno, os, sys
name, status, expected, socket = sys.argv[1:]
block = bytes(range(256)) * 4096
fd = os.open(name, os.O_CREAT | os.O_WRONLY)
told = []
def attempt(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        told.append(errno.errorcode[error.errno])
for i in range(100):
    if i == 30: control.send(socket, f"fault nfsstat={status}:op=WRITE")
    attempt(os.pwrite, fd, block, i << 20)
attempt(os.fsync, fd)
if not told or set(told) != {expected}: sys.exit(f"told {told}")
control.send(socket, "clear")
told.clear()
# What the last writes failed with was their answer; nothing is left to be told.
for i in range(100): attempt(os.pwrite, fd, block, i << 20)
attempt(os.fsync, fd)
attempt(os.close, fd)
if told: sys.exit(f"told {told} with room")
P
  [ "$(stat -c %s "$export/full")" = $((100 << 20)) ] || fail "$1: the data"
  rm "$mnt/full"
}
failing NFS4ERR_NOSPC ENOSPC
failing NFS4ERR_DQUOT EDQUOT
expect_alive

# A mount that is ended while a file is open and much of it is on its way.
head -c 100M /dev/urandom >"$work/model"
exec 5>"$mnt/at_end"
dd if="$work/model" bs=1M status=none >&5
kill -TERM "${mount_pids[-1]}"
expect_end "the daemon does not end"
[ "$ended_with" -eq 0 ] || fail "the daemon failed: $ended_with"
exec 5>&- || true
cmp "$work/model" "$export/at_end"
