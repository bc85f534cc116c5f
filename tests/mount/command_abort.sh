#!/usr/bin/env bash
# A mount can always be ended by force through /sys/fs/fuse/connections; nothing is left behind.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
connections=/sys/fs/fuse/connections
if ! mountpoint -q $connections; then
  mount -t fusectl fusectl $connections 2>/dev/null || skip "no $connections"
fi
start_responder
"$NFSRDMA_BIN/nfsrdma" -o "port=$port" 127.0.0.1:/ "$mnt"
pid=$(daemon)
number=$(findmnt -no MAJ:MIN "$mnt" | cut -d: -f2 | tr -d ' ')
same ok "$(control stop)" "stop"
cat "$mnt/file" >/dev/null 2>&1 &
reader=$!
echo 1 >"$connections/$number/abort"
wait $reader && fail "a read succeeded after the abort"
same ok "$(control continue)" "continue"
wait_for "the program's end" gone "$pid"
not_mounted "$mnt" || fail "the dead mount was left"
