#!/usr/bin/env bash
# P13: programs that read and write are killed again and again while the server is slow. No caller
# sees an error of the session, and no slot is lost.
. "$(dirname "$0")/lib.sh"
start_responder
head -c 8M /dev/urandom >"$export/file"
mount_export
control "fault delay-reply=50" >/dev/null

rounds=$(scaled 60 1000)
for round in $(seq "$rounds"); do
  pids=()
  for i in 1 2 3 4 5 6; do
    dd if="$mnt/file" of=/dev/null bs=64K iflag=direct status=none 2>>"$work/said" &
    pids+=($!)
    dd if=/dev/zero of="$mnt/written$i" bs=64K count=100 oflag=direct status=none 2>>"$work/said" &
    pids+=($!)
  done
  # Some are killed at once, some later: in all phases of their requests.
  sleep "0.0$((round % 10))"
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
  wait "${pids[@]}" 2>/dev/null || true
done
control clear >/dev/null

[ ! -s "$work/said" ] || fail "a program got an error: $(sort -u "$work/said" | head -n 3)"
same 0 "$(counter session_slots_misordered)" "SEQ_MISORDERED"
same 0 "$(counter session_losses)" "sessions lost"
no_slot_in_use() { [ "$(counter session_slots_in_use)" = 0 ]; }
wait_for "all slots to be given back" no_slot_in_use
[ "$(counter fuse_interrupted)" -ge 1 ] || fail "nobody was killed in time"
cmp "$mnt/file" "$export/file"
echo after >"$mnt/after"
same after "$(cat "$export/after")" "written after the storm"
