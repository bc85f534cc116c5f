#!/usr/bin/env bash
# A mount that gets no answer is interrupted: its capture has what was said until then.
. "$(dirname "$0")/lib.sh"

# Takes connections and says nothing; tells when it has read something.
python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(8); print(s.getsockname()[1], flush=True)
c, _ = s.accept(); c.recv(1); print("heard", flush=True); c.recv(1 << 20); s.accept()' \
  >"$work/silent" &
silent=$!
wait_for "a port" test -s "$work/silent"
"$NFSRDMA_BIN/nfsrdma" -f -o "port=$(head -n 1 "$work/silent"),capture=$work/capture" 127.0.0.1:/ "$mnt" \
  2>"$work/nfsrdma.log" &
mounting=$!
wait_for "the request" grep -q heard "$work/silent"
kill -TERM $mounting
wait $mounting && fail "an interrupted mount succeeds"
grep -q interrupted "$work/nfsrdma.log" || fail "not interrupted: $(cat "$work/nfsrdma.log")"
grep -q "MPA ID Req Frame" "$work/capture" || fail "the capture lacks the request"
kill $silent
