#!/usr/bin/env bash
# O_DIRECT and O_SYNC reads and writes, beside cached ones.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

head -c 8M /dev/urandom >"$work/data"
dd if="$work/data" of="$mnt/direct" bs=1M oflag=direct status=none
cmp "$work/data" "$export/direct"
dd if="$mnt/direct" of="$work/back" bs=256K iflag=direct status=none
cmp "$work/data" "$work/back"
cmp "$work/data" "$mnt/direct"
dd if="$work/data" of="$mnt/direct" bs=64K seek=3 count=5 skip=11 conv=notrunc oflag=direct status=none
dd if="$work/data" of="$work/data2" bs=64K seek=3 count=5 skip=11 conv=notrunc status=none
cp "$work/data" "$work/expected"
dd if="$work/data2" of="$work/expected" bs=64K skip=3 seek=3 count=5 conv=notrunc status=none
cmp "$work/expected" "$mnt/direct"
dd if="$work/data" of="$mnt/sync" bs=128K oflag=sync status=none
cmp "$work/data" "$mnt/sync"
dd if="$work/data" of="$mnt/dsync" bs=4K count=50 oflag=dsync,append conv=notrunc status=none
cmp -n $((50 * 4096)) "$work/data" "$mnt/dsync"

# A file that is open for direct I/O is mapped as any other, and sees and shows the same bytes.
python3 - "$mnt/direct" "$work/expected" <<'P'
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
with mmap.mmap(fd, 0) as pages:
    assert pages[:] == open(sys.argv[2], "rb").read()
    pages[5000:5004] = b"mmap"
    pages.flush()
block = mmap.mmap(-1, 8192)
assert os.preadv(fd, [block], 0) == 8192
assert block[5000:5004] == b"mmap"
block[0:4] = b"head"
assert os.pwritev(fd, [block], 0) == 8192
with mmap.mmap(fd, 8192) as pages:
    assert pages[:4] == b"head" and pages[5000:5004] == b"mmap"
os.close(fd)
P
