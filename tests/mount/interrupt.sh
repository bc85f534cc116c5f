#!/usr/bin/env bash
# A server that does not answer: callers can be killed at once, and what they left does no harm.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
head -c 2M /dev/urandom >"$mnt/f"
sync "$mnt/f"

# stalled command...: the command hangs with the server, and goes when it is killed.
stalled() {
  "$@" >/dev/null 2>&1 &
  local pid=$! start
  wait_for "'$*' to wait for the server" grep -q request_wait_answer "/proc/$pid/wchan"
  kill -TERM $pid
  start=$SECONDS
  wait $pid 2>/dev/null && fail "'$*' succeeded without a server"
  [ $((SECONDS - start)) -le 10 ] || fail "'$*' took $((SECONDS - start)) s to die"
}

same ok "$(control stop)" "stop"
stalled cat "$mnt/g"
stalled sh -c "echo x >'$mnt/new'"
stalled dd if=/dev/zero of="$mnt/written" bs=64K count=10
stalled dd if="$mnt/f" of=/dev/null bs=1M iflag=direct
stalled mkdir "$mnt/d"
stalled ls "$mnt"
[ "$(counter fuse_interrupted)" -ge 1 ] || fail "nobody was let go early"
same ok "$(control continue)" "continue"

# Everything works on; nothing is left open or half known.
echo after >"$mnt/after"
same after "$(cat "$mnt/after")" "after the stall"
cmp "$mnt/f" "$export/f"
wait_for "the same names on both sides" \
  sh -c "[ \"\$(ls -A '$export')\" = \"\$(ls -A '$mnt')\" ]"
same 0 "$(counter fs_open_files)" "files that stayed open"
