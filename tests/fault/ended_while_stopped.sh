#!/usr/bin/env bash
# The server has stopped when a mount is told to end that has written and not sent, sent and not
# committed, and files open: it ends all the same, and says what is lost.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

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
  wait_for "what is written" test -e "$work/written"
}
let_go() {
  kill "$holder"
  wait "$holder" 2>/dev/null || true
}

hold_unsaved
control stop >/dev/null
kill -TERM "${mount_pids[0]}"
expect_end "the daemon does not end"
same 0 "$ended_with" "its exit status"
mountpoint -q "$mnt" && fail "the mount is still there"
grep -q "what it has not got is lost" "$work/mount0.log" || fail "the loss is not reported"
let_go

# With a server that answers nothing is lost.
control continue >/dev/null
mount_export
hold_unsaved
kill -TERM "${mount_pids[1]}"
expect_end "the second daemon does not end"
same 0 "$ended_with" "exit status of the second"
[ "$(cat "$export/gathered")" = gathered ] || fail "gathered data were lost"
grep -q "is lost" "$work/mount1.log" && fail "a loss is reported"
let_go
