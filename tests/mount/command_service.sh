#!/usr/bin/env bash
# In the foreground with $NOTIFY_SOCKET, systemd is told when the mount is live, not before, and when
# its end has begun; in the background nothing is told.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
start_responder
echo served >"$export/served"

cat >"$work/listener.py" <<'PY'
import os, socket, sys
path, mounted = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(path)
print("listening", flush=True)
while True:
    state = dict(line.split("=", 1) for line in listener.recv(4096).decode().splitlines())
    there = os.path.exists(os.path.join(mounted, "served")) if "READY" in state else None
    print(*sorted(state), "served" if there else "", state.get("STATUS"), flush=True)
    if "STOPPING" in state:
        break
PY
python3 "$work/listener.py" "$work/notify" "$mnt" >"$work/told" &
listener=$!
wait_for "the listener" grep -q listening "$work/told"

NOTIFY_SOCKET=$work/notify "$NFSRDMA_BIN/nfsrdma" -f -o "proto=$NFSRDMA_PROTO,port=$port" \
  127.0.0.1:/ "$mnt" >"$work/mount.log" 2>&1 &
program=$!
wait_for "word of the mount" grep -q READY "$work/told"
same "READY STATUS served 127.0.0.1:/ is mounted on $mnt" "$(sed -n 2p "$work/told")" "what was told"
fusermount3 -u "$mnt"
wait "$program"
wait "$listener"
same "STATUS STOPPING  unmounting" "$(sed -n 3p "$work/told")" "what was told at the end"

python3 "$work/listener.py" "$work/notify2" "$mnt" >"$work/told2" &
listener=$!
wait_for "the listener" grep -q listening "$work/told2"
NOTIFY_SOCKET=$work/notify2 "$NFSRDMA_BIN/nfsrdma" -o "proto=$NFSRDMA_PROTO,port=$port" 127.0.0.1:/ "$mnt"
pid=$(daemon)
fusermount3 -u "$mnt"
wait_for "the program's end" gone "$pid"
same listening "$(cat "$work/told2")" "what a mount in the background tells"
kill "$listener"
wait "$listener" 2>/dev/null || true
