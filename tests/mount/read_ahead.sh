#!/usr/bin/env bash
# A large file that is read from front to end comes in requests as large as the server allows, not in
# the 128 KiB that the kernel would read ahead by itself. Needs root: the limit is the kernel's.
counts_caches=yes
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "only root may raise the limit"
[ -w /sys/class/bdi ] || skip "/sys is not writable"
start_responder
head -c 64M /dev/zero >"$export/large"
mount_export
limit=/sys/class/bdi/$(mountpoint -d "$mnt")/read_ahead_kb
wait_for "read-ahead of 1 MiB" grep -qx 1024 "$limit"
before=$(counter fuse_requests_read)
cat "$mnt/large" >/dev/null
reads=$(($(counter fuse_requests_read) - before))
[ $reads -le 160 ] || fail "$reads READ requests for 64 MiB"
