#!/usr/bin/env bash
# A capture is whole while it goes on, and after SIGKILL: it has the last message that was answered.
. "$(dirname "$0")/lib.sh"
lab=$NFSRDMA_BIN/nfsrdma-lab
[ -x "$lab" ] || skip "no $lab"
standing=control=$work/own.sock
export NFSRDMA_OWN_CAPTURES=1

# is_whole NAME...: the capture breaks no rule, does not end within a packet, and these names are in it.
is_whole() {
  local name
  "$lab" lint "$work/wire.pcapng" >"$work/said" 2>&1 || fail "lint: $(cat "$work/said")"
  ! grep -i 'truncated\|cut short' "$work/said" || fail "the file is not whole"
  "$lab" convert "$work/wire.pcapng" "$work/rpc.pcapng" >"$work/said" 2>&1 || fail "convert: $(cat "$work/said")"
  for name in "$@"; do grep -q "$name" "$work/rpc.pcapng" || fail "the call for $name is not there: $(cat "$work/said")"; done
}
# The daemon has begun another turn: what it did for the last request is over.
answers() { "$NFSRDMA_BIN/nfsrdmactl" list "$work/own.sock" >/dev/null || fail "the daemon does not answer"; }

start_responder
mkdir "$work/second"
mount_export "capture=$work/wire.pcapng,noac"
! stat "$mnt/first-look" 2>/dev/null || fail "a file that is not there"
answers
is_whole first-look
# Another program that would record there is refused, and this one goes on.
refused "another program records into it" "$NFSRDMA_BIN/nfsrdma" -f -o "proto=$NFSRDMA_PROTO,port=$port,control=off,capture=$work/wire.pcapng" 127.0.0.1:/ "$work/second"
! stat "$mnt/last-look" 2>/dev/null || fail "a file that is not there"
answers
{ kill -KILL "${mount_pids[0]}" && wait "${mount_pids[0]}"; } 2>/dev/null || true
mount_pids[0]=
fusermount3 -u "$mnt"
is_whole first-look last-look
