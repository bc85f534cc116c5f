#!/usr/bin/env bash
# A mount that ends late leaves the next mount on its directory alone, although the kernel may give
# both the same device number.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
mount_in_background() { "$NFSRDMA_BIN/nfsrdma" -o "port=$1" 127.0.0.1:/ "$mnt"; }

start_responder
mount_in_background "$port"
late=$(daemon)
late_device=$(stat -c %d "$mnt")
# It cannot take leave of a server that does not answer.
same ok "$(control stop)" "stop"
fusermount3 -u "$mnt"
kill -0 "$late" || fail "the first program did not wait for its server"

mkdir "$work/second"
echo second >"$work/second/file"
"$NFSRDMA_BIN/nfsrdma-responder" --export "$work/second" --port 0 >"$work/second.out" 2>"$work/second.log" &
second=$!
wait_for "the second responder" grep -q '^listening on' "$work/second.out"
mount_in_background "$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$work/second.out" | head -n 1)"
[ "$late_device" = "$(stat -c %d "$mnt")" ] || echo "the device number was not used again"

same ok "$(control continue)" "continue"
wait_for "the end of the first program" gone "$late"
same second "$(cat "$mnt/file")" "a file of the second mount"
fusermount3 -u "$mnt"
kill $second
wait $second

# A second TERM while the server is gone for good ends the program at once.
mount_in_background "$port"
pid=$(daemon)
kill -KILL "$responder_pid"
wait "$responder_pid" || true
responder_pid=
kill -TERM "$pid"
wait_for "the unmount" not_mounted "$mnt"
kill -TERM "$pid" 2>/dev/null || true
wait_for "the end after a second TERM" gone "$pid"
