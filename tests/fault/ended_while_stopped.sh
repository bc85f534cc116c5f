#!/usr/bin/env bash
# The server has stopped when a mount is told to end that has written and not sent, sent and not
# committed, and files open: it ends all the same, and says what is lost.
. "$(dirname "$0")/lib.sh"
start_responder --not-durable
start_mount

exec 5>"$mnt/uncommitted" 6>"$mnt/gathered"
head -c 1M /dev/zero >&5
echo gathered >&6
control stop >/dev/null
kill -TERM "$daemon"
for _ in $(seq 600); do
  kill -0 "$daemon" 2>/dev/null || break
  sleep 0.1
done
if kill -0 "$daemon" 2>/dev/null; then fail "the daemon does not end"; fi
status=0
wait "$daemon" || status=$?
[ "$status" -eq 0 ] || fail "it ended with status $status"
mountpoint -q "$mnt" && fail "the mount is still there"
grep -q "what it has not got is lost" "$work/mount.log" || fail "the loss is not reported"
exec 5>&- 6>&- || true

# With a server that answers nothing is lost.
control continue >/dev/null
start_mount
exec 6>"$mnt/gathered"
echo gathered >&6
kill -TERM "$daemon"
wait "$daemon" || fail "it ended with status $?"
[ "$(cat "$export_dir/gathered")" = gathered ] || fail "gathered data were lost"
exec 6>&- || true
