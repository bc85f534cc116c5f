#!/usr/bin/env bash
# Small writes that were answered and not sent yet survive whatever happens to connection and server
# meanwhile; when the server has no room for them, close or fsync says so, once.
. "$(dirname "$0")/lib.sh"
start_responder --lease 5
mount_export

cat >"$work/writer.py" <<'P'
import control, os, random, sys
here, model, seed, socket, *strike = sys.argv[1:]
random.seed(int(seed))
text = bytearray()
fd = os.open(here, os.O_CREAT | os.O_RDWR)
for i in range(6000):
    data = random.randbytes(random.choice((1, 80, 1000, 4096, 10000)))
    place = len(text) if i % 10 else random.randrange(len(text) + 1)
    if os.pwrite(fd, data, place) != len(data): sys.exit("a short write")
    text[place:place + len(data)] = data
    if i % 1500 == 0 and os.pread(fd, 100000, 0) != text[:100000]: sys.exit("read back")
    # Not by another process: its end would flush the file, and nothing would be left to be lost.
    if strike and i % 1000 == 500: control.send(socket, " ".join(strike))
os.close(fd)
open(model, "wb").write(text)
P

# strike NAME WRITERS CONTROL...: six times while so many processes write; the first says when.
strike() {
  local name=$1 count=$2 writers=() i
  shift 2
  for i in $(seq "$count"); do
    python3 "$work/writer.py" "$mnt/$name$i" "$work/$name$i" "$i" "$work/control" "$@" &
    writers+=($!)
    set --
  done
  for i in $(seq "$count"); do
    wait "${writers[$((i - 1))]}" || fail "$name: writer $i"
    cmp "$work/$name$i" "$export/$name$i" || fail "$name: data of writer $i"
  done
}
sent_again() { grep -c 'the server has restarted: .* writes are sent again' "$work/mount0.log" || true; }
strike disconnect 3 disconnect
[ "$(sent_again)" = 0 ] || fail "nothing was lost, and writes were sent again"
strike alone 1 reboot 0
[ "$(sent_again)" -gt 0 ] || fail "the server restarted behind every COMMIT: nothing was lost"
strike reboot 3 reboot 0
strike grace 3 reboot 1
# 60,000 small writes; how many are sent again hangs on where the restarts struck.
again=$(sed -n 's/.*restarted: \([0-9]*\) writes are sent again/\1/p' "$work/mount0.log" | paste -sd+)
first=$(($(served WRITE) - (${again:-0})))
[ $first -lt 15000 ] || fail "the writes were not gathered: $first"

# failing STATUS ERRNO: two descriptors learn of the error once each; the next write tells at once.
failing() {
  control fault "nfsstat=$1:op=WRITE" >/dev/null
  python3 - "$mnt/full" "$2" "$work/control" <<'P' || fail "$1"
import control, errno, os, sys
name, expected, socket = sys.argv[1:]
def outcome(call, *arguments):
    try:
        call(*arguments)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
def check(what, found, wanted):
    if found != wanted: sys.exit(f"{what}: {found} instead of {wanted}")
one = os.open(name, os.O_CREAT | os.O_RDWR)
two = os.open(name, os.O_RDWR)
check("write", outcome(os.write, one, b"text"), "ok")
check("fsync", outcome(os.fsync, one), expected)
check("fsync again", outcome(os.fsync, one), "ok")
check("the other descriptor", outcome(os.fsync, two), expected)
check("the other again", outcome(os.fsync, two), "ok")
check("write after an error", outcome(os.pwrite, one, b"text", 0), expected)
control.send(socket, "clear")
check("write with room", outcome(os.pwrite, one, b"text", 0), "ok")
check("write after that", outcome(os.pwrite, one, b"more", 4), "ok")
check("close", outcome(os.close, one), "ok")
check("close of the other", outcome(os.close, two), "ok")
P
  [ "$(cat "$export/full")" = textmore ] || fail "$1: the data"
  rm "$mnt/full"
}
failing NFS4ERR_NOSPC ENOSPC
failing NFS4ERR_DQUOT EDQUOT
failing NFS4ERR_IO EIO
expect_alive
