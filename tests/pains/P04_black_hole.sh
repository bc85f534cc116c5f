#!/usr/bin/env bash
# P4: a server that takes connections and then says nothing, over a network that loses everything
# but the handshake: the mount fails with the step that got no answer, and in its time.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(64); print(s.getsockname()[1], flush=True); time.sleep(600)' \
  >"$work/silent_port" 2>/dev/null &
holder=$!
wait_for "a port" test -s "$work/silent_port"
port=$(cat "$work/silent_port")
# Fifteen seconds for an attempt; twice that is a busy machine.
begun=$SECONDS
expect 32 "no answer in time" timeout 40 "$NFSRDMA_BIN/nfsrdma" -o "port=$port,retry=0" 127.0.0.1:/ "$mnt"
echo "given up after $((SECONDS - begun)) s"
kill $holder

# The same for a mount that is there when the server falls silent: it can be unmounted, and is gone.
start_responder
mount_export
ls "$mnt" >/dev/null
daemon=${mount_pids[0]}
control stop >/dev/null
fusermount3 -u "$mnt"
for _ in $(seq 150); do kill -0 "$daemon" 2>/dev/null || break; sleep 0.1; done
kill -0 "$daemon" 2>/dev/null && fail "the daemon outlives the unmount of a silent server"
wait "$daemon" || true
mount_pids[0]=
control continue >/dev/null
