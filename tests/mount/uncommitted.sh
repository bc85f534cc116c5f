#!/usr/bin/env bash
# Written data is kept until it is committed, within bounds: more than fits is committed early, and
# what fsync has answered is at the server.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

# Ten times what may be kept, written without a close in between.
python3 - "$mnt" <<'PY'
import os, sys
d = sys.argv[1]
files = [os.open(f"{d}/f{i}", os.O_CREAT | os.O_WRONLY) for i in range(4)]
for step in range(64):
    for i, fd in enumerate(files):
        os.write(fd, bytes([i + 1]) * (1 << 20))
for step in range(2000):
    os.pwrite(files[0], b"small", step * 10)
for fd in files:
    os.fsync(fd)
    os.close(fd)
PY
for i in 0 1 2 3; do
  cmp "$mnt/f$i" "$export/f$i"
  same $((64 << 20)) "$(stat -c %s "$mnt/f$i")" "size"
done
[ "$(counter cache_writes_kept_in_slot)" -ge 256 ] || fail "large writes were not kept in their slots"
[ "$(counter cache_writes_copied)" -ge 2000 ] || fail "small writes were not copied"
same "0 0" "$(counter cache_slots_uncommitted) $(counter cache_bytes_kept_in_copies)" "kept after fsync"
