#!/usr/bin/env bash
# A server that puts operations off for ever (NFS4ERR_DELAY). Any fatal signal ends a process that waits for any of
# them, the log tells of it, and a process that goes on waiting is served when the server stops doing so.
. "$(dirname "$0")/lib.sh"
start_responder
# One file for each step: the request of a caller that was killed goes on until it is sent again.
for i in $(seq 20); do echo content >"$export/file$i"; done
mount_export noac,lookupcache=none

# dd(1) catches SIGINT, and so does Python unless told otherwise.
cat >"$work/direct.py" <<'P'
import mmap, os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
how, name = sys.argv[1:]
page = mmap.mmap(-1, 4096)
if how == "read": os.readv(os.open(name, os.O_RDONLY | os.O_DIRECT), [page])
else: os.writev(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_DIRECT), [page])
P

# puts_off OPERATION: asked at least twice since
puts_off() {
  control fault "nfsstat=NFS4ERR_DELAY:op=$1" >/dev/null
  asked_before=$(served "$1")
}
asked_again() { [ "$(served "$1")" -gt $((asked_before + 1)) ]; }

# ends SIGNAL OPERATION COMMAND...
ends() {
  local signal=$1 operation=$2 waiter status=0
  shift 2
  puts_off "$operation"
  # A shell lets what it starts in the background ignore SIGINT.
  env --default-signal=INT "$@" >/dev/null 2>&1 &
  waiter=$!
  wait_for "another $operation" asked_again "$operation"
  kill -s "$signal" "$waiter"
  for _ in $(seq 600); do
    kill -0 "$waiter" 2>/dev/null || break
    sleep 0.05
  done
  kill -0 "$waiter" 2>/dev/null && fail "SIG$signal does not end $* while $operation is put off"
  wait "$waiter" || status=$?
  [ "$status" -gt 128 ] || fail "$*: $status instead of a death by SIG$signal"
  control clear >/dev/null
}
ends INT OPEN cat "$mnt/file1"
ends TERM OPEN cat "$mnt/file2"
ends KILL OPEN cat "$mnt/file3"
ends INT READ python3 "$work/direct.py" read "$mnt/file4"
ends TERM READ python3 "$work/direct.py" read "$mnt/file5"
ends KILL READ python3 "$work/direct.py" read "$mnt/file6"
ends KILL CREATE mkdir "$mnt/directory"
ends KILL GETATTR stat "$mnt/file7"
ends KILL READDIR ls "$mnt"
ends KILL READ cat "$mnt/file8"
ends KILL WRITE python3 "$work/direct.py" write "$mnt/direct"
ends KILL SETATTR chmod 600 "$mnt/file9"
ends KILL LOCK flock "$mnt/file10" true

puts_off OPEN
cat "$mnt/file11" >"$work/read" &
reader=$!
wait_for "a line in the log" grep -q 'the server has put off .*OPEN.* (NFS4ERR_DELAY)' "$work/mount0.log"
control clear >/dev/null
wait "$reader" || fail "who waited was not served"
[ "$(cat "$work/read")" = content ] || fail "wrong data"
expect_alive
