#!/usr/bin/env bash
# The server has stopped when a mount is told to end that has written and not sent, sent and not
# committed, and files open: it ends all the same, and says what is lost.
. "$(dirname "$0")/lib.sh"
start_responder --not-durable
start_mount

# hold_unsaved: files that stay open, because each close(2) of a descriptor saves what was written.
hold_unsaved() {
  rm -f "$work/written"
  python3 -c 'import os, sys, time
mount, written = sys.argv[1:]
for name, data in ("uncommitted", bytes(1 << 20)), ("gathered", b"gathered\n"):
    os.write(os.open(mount + "/" + name, os.O_WRONLY | os.O_CREAT), data)
os.close(os.open(written, os.O_CREAT))
while os.path.exists(written): time.sleep(0.2)' "$mnt" "$work/written" &
  holder=$!
  for _ in $(seq 200); do [ -e "$work/written" ] && return; sleep 0.05; done
  fail "nothing was written"
}
let_go() {
  kill "$holder"
  wait "$holder" 2>/dev/null || true
}

hold_unsaved
control stop >/dev/null
kill -TERM "$daemon"
expect_end "the daemon does not end"
status=0
wait "$daemon" || status=$?
[ "$status" -eq 0 ] || fail "it ended with status $status"
mountpoint -q "$mnt" && fail "the mount is still there"
grep -q "what it has not got is lost" "$work/mount.log" || fail "the loss is not reported"
let_go

# With a server that answers nothing is lost.
control continue >/dev/null
start_mount
hold_unsaved
kill -TERM "$daemon"
wait "$daemon" || fail "it ended with status $?"
[ "$(cat "$export_dir/gathered")" = gathered ] || fail "gathered data were lost"
grep -q "is lost" "$work/mount.log" && fail "a loss is reported"
let_go
