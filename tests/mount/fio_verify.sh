#!/usr/bin/env bash
# fio writes patterns and verifies them: sequential and random, cached and direct, several jobs.
. "$(dirname "$0")/lib.sh"
command -v fio >/dev/null || skip "no fio"
start_responder
mount_export

cat >"$work/jobs" <<'F'
[global]
directory=${MNT}
verify=crc32c
verify_fatal=1
ioengine=psync
size=8m
group_reporting
[sequential]
rw=write
bs=1m
fsync_on_close=1
stonewall
[random]
rw=randwrite
bs=4k-128k
numjobs=4
fsync=50
stonewall
[direct]
rw=randrw
bs=64k
direct=1
numjobs=2
stonewall
[mapped]
ioengine=mmap
rw=randwrite
bs=4k
size=2m
stonewall
F
MNT=$mnt fio --output="$work/fio.out" "$work/jobs" || { cat "$work/fio.out" >&2; fail fio; }
grep -q "err= 0" "$work/fio.out" || fail "fio reports errors"
for f in "$export"/*; do cmp "$f" "$mnt/$(basename "$f")"; done
