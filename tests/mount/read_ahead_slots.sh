#!/usr/bin/env bash
# A file that is read from front to end arrives before it is asked for, also for an ordinary user: the kernel
# reads ahead as far as root lets it, 128 KiB for others. Direct reads and readahead=0 ask each time.
. "$(dirname "$0")/lib.sh"
start_responder
head -c 64M /dev/urandom >"$export/large"
mount_export actimeo=60
cmp "$export/large" "$mnt/large" || fail "other bytes"
used=$(counter cache_read_ahead_bytes_used)
[ "$used" -ge $((60 << 20)) ] || fail "$used bytes of 64 MiB were read ahead and used"
[ "$(counter cache_read_ahead_slots)" -eq 0 ] || fail "a file that was read to its end keeps slots"
reads=$(served read)
[ "$reads" -le 100 ] || fail "$reads READs for 64 MiB"

dd if="$mnt/large" of=/dev/null bs=256K iflag=direct status=none
[ "$(counter cache_read_ahead_bytes_used)" -eq "$used" ] || fail "a direct read was answered from memory"
unmount_export

mount_export actimeo=60,readahead=0
cmp "$export/large" "$mnt/large" || fail "other bytes"
[ "$(counter cache_read_ahead_bytes 1)" -eq 0 ] || fail "readahead=0 reads ahead"
