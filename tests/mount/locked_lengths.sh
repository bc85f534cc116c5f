#!/usr/bin/env bash
# A process that has locked a part of a file sees the file's length, whatever another mount has made of it before, and
# whatever other processes of the same mount write at that moment. NFSRDMA_ROUNDS (150), NFSRDMA_SEED.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

# Without other clients the kernel knows the length by itself, locks or not.
head -c 300000 /dev/urandom >"$work/source"
for i in 1 2 3; do
  cp "$work/source" "$mnt/copy"
  cat "$work/source" >>"$mnt/copy"
  cmp -n 300000 "$work/source" "$mnt/copy"
  truncate -s 1000 "$mnt/copy"
done
for writer in 1 2 3 4; do
  (
    for i in $(seq 20); do
      flock "$mnt/log" sh -c 'date >>"$1"; tail -n 1 "$1"' - "$mnt/log" >"$work/tail$writer"
    done
  ) &
  writers[writer]=$!
done
for writer in 1 2 3 4; do wait "${writers[writer]}"; done
same 80 "$(wc -l <"$mnt/log")" "lines that were appended"
same 0 "$(counter fs_size_looks)" "times the kernel's size of a file was put right without another client"

mount_export "" "$work/other"
timeout 150 python3 "$here/locked_lengths.py" "${NFSRDMA_ROUNDS:-150}" "${NFSRDMA_SEED:-$RANDOM}" "$mnt" "$work/other" ||
  fail "see above"
[ "$(counter fs_size_looks)" -gt 0 ] || fail "the kernel's size of a file was never put right"
