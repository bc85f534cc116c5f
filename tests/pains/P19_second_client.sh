#!/usr/bin/env bash
# P19: one client has written to many files under delegations, and is busy in all of its requests
# with a slow server; another one opens the files and sees all of it.
. "$(dirname "$0")/lib.sh"
start_responder --delegations write
mount_export
mount_export "" "$work/other"
files=$(scaled 30 400)
head -c 4M /dev/urandom >"$export/load"

python3 - "$mnt" "$work/other" "$files" "$work/held" "$work/read" <<'PY' &
import os, sys, time
mine, count = sys.argv[1], int(sys.argv[3])
held = []
for i in range(count):
    file = os.open(f"{mine}/f{i}", os.O_RDWR | os.O_CREAT, 0o644)
    for part in range(20):
        os.write(file, f"file {i} part {part}\n".encode())
    held.append(file)
open(sys.argv[4], "w").close()
while not os.path.exists(sys.argv[5]):
    time.sleep(0.05)
for file in held:
    os.close(file)
PY
holder=$!
wait_for "the files to be written" test -e "$work/held"
[ "$(counter delegations)" -ge "$files" ] || fail "not every file is delegated"

control "fault delay=20:op=READ" >/dev/null
readers=()
for i in $(seq 16); do
  (while [ ! -e "$work/read" ]; do
    dd if="$mnt/load" of=/dev/null bs=16K iflag=direct status=none
  done) &
  readers+=($!)
done
for i in $(seq 0 $((files - 1))); do
  expected=$(for part in $(seq 0 19); do echo "file $i part $part"; done)
  same "$expected" "$(cat "$work/other/f$i")" "file $i"
done
touch "$work/read"
control clear >/dev/null
wait "${readers[@]}" || fail "a reader failed"
wait $holder || fail "a file could not be closed"
[ "$(counter delegations_recalled)" -ge "$files" ] || fail "not every delegation was asked back"
same 0 "$(counter delegations_lost)" "delegations lost"
