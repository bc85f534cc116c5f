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
  local pid=$!
  wait_for "the call to reach the server" in_system_call $pid
  kill -KILL $pid
  local start=$SECONDS
  wait $pid || true
  [ $((SECONDS - start)) -le 5 ] || fail "'$*' took $((SECONDS - start)) s to die"
}
in_system_call() { grep -qE 'fuse|request_wait' "/proc/$1/wchan" "/proc/$1/stack" || [ "$(cut -d' ' -f3 "/proc/$1/stat")" = D ] || [ "$(cut -d' ' -f3 "/proc/$1/stat")" = S ]; }

same ok "$(control stop)" "stop"
stalled cat "$mnt/g"
stalled sh -c "echo x >'$mnt/new'"
stalled dd if=/dev/zero of="$mnt/written" bs=64K count=10
stalled dd if="$mnt/f" of=/dev/null bs=1M iflag=direct
stalled mkdir "$mnt/d"
stalled ls "$mnt"
same ok "$(control continue)" "continue"

# Everything works on; nothing is left open or half known.
echo after >"$mnt/after"
same after "$(cat "$mnt/after")" "after the stall"
cmp "$mnt/f" "$export/f"
wait_for "the same names on both sides" \
  sh -c "[ \"\$(ls -A '$export')\" = \"\$(ls -A '$mnt')\" ]"
