#!/usr/bin/env bash
# retry= waits for a server that comes up later; without it the first failure is reported.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"

# A port for the server to come up on: taken from the system and given back.
later=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
expect 32 "connection refused" "$NFSRDMA_BIN/nfsrdma" -o "port=$later" 127.0.0.1:/ "$mnt"

"$NFSRDMA_BIN/nfsrdma" -o "port=$later,retry=1" 127.0.0.1:/ "$mnt" 2>"$work/retry.log" &
command=$!
sleep 1
kill -0 $command || fail "the command gave up: $(cat "$work/retry.log")"
"$NFSRDMA_BIN/nfsrdma-responder" --export "$export" --port "$later" >"$work/responder.out" \
  2>"$work/responder.log" &
responder_pid=$!
wait $command || fail "no mount with retry=1: $(cat "$work/retry.log")"
mountpoint -q "$mnt" || fail "exit 0 without a mount"
fusermount3 -u "$mnt"

# Interrupted while it waits.
"$NFSRDMA_BIN/nfsrdma" -o "port=1,retry=1" 127.0.0.1:/ "$mnt" 2>"$work/interrupted.log" &
command=$!
child() { pgrep -P $command >"$work/child"; }
wait_for "the background process" child
kill -TERM "$(cat "$work/child")"
status=0
wait $command || status=$?
same 8 $status "exit code of an interrupted mount"

# Called by mount(8), as from fstab, it goes on for two minutes unless it is told otherwise.
ln -s "$NFSRDMA_BIN/nfsrdma" "$work/mount.nfsrdma"
"$work/mount.nfsrdma" 127.0.0.1:/ "$mnt" -v -o port=1 2>"$work/helper.log" &
command=$!
wait_for "the background process" child
wait_for "the first attempt" grep -q 'connection refused.*trying again' "$work/helper.log"
kill -TERM "$(cat "$work/child")"
status=0
wait $command || status=$?
same 8 $status "exit code of an interrupted helper, which had gone on"
expect 32 "connection refused" "$work/mount.nfsrdma" 127.0.0.1:/ "$mnt" -o port=1,retry=0
