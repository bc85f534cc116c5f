#!/usr/bin/env bash
# A WRITE of up to 64 KiB travels in its message and takes one round trip; the server fetches the data of a larger one,
# and of one that a message as Linux servers take it has no room for.
. "$(dirname "$0")/lib.sh"
head -c 128K /dev/urandom >"$work/data"
truncate -s 128K "$export/file"
start_responder
mount_export noac
mount_export noac,inline=4096 "$work/small"

# writes MOUNT FOLDER CHUNKS BYTES: one direct write of so many bytes has so many Read chunks.
writes() {
  local before
  before=$(counter read_chunks "$1")
  dd if="$work/data" of="$2/file" bs="$4" count=1 oflag=direct conv=notrunc status=none
  cmp -n "$4" "$work/data" "$export/file"
  same "$3" $(($(counter read_chunks "$1") - before)) "Read chunks of a WRITE of $4 bytes"
  dd if=/dev/zero of="$export/file" bs=128K count=1 conv=notrunc status=none
}
writes 0 "$mnt" 0 4096
writes 0 "$mnt" 0 65536
writes 0 "$mnt" 1 69632
writes 1 "$work/small" 1 4096
same 4096 "$(counter inline_from_server)" "replies stay small: nothing is won by larger ones"
same 4096 "$(counter inline_to_server 1)" "threshold to the server with inline=4096"
