#!/usr/bin/env bash
# What is big: a directory of 100,000 entries, made at the server, and a file of 1 GiB, there and back.
# NFSRDMA_ENTRIES and NFSRDMA_BYTES change the sizes. Usage: big.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
entries=${NFSRDMA_ENTRIES:-100000}
bytes=${NFSRDMA_BYTES:-1073741824}
use_knfsd "$1" "$2"
guest_run "mkdir /export$2/big; cd /export$2/big; seq -f entry-of-the-directory-%.0f $entries | xargs touch"
mount_export

seq -f entry-of-the-directory-%.0f "$entries" | sort >"$work/expected"
ls -U "$mnt/big" | sort >"$work/listed"
diff "$work/expected" "$work/listed" >"$work/difference" ||
  fail "the listing: $(head -n 3 "$work/difference")"
same "$entries" "$(find "$mnt/big" -type f -size 0 | wc -l)" "files with their attributes"

head -c "$bytes" /dev/urandom >"$work/large"
sum=$(sha256sum <"$work/large")
cp "$work/large" "$mnt/large"
same "$sum" "$(guest_run "sha256sum </export$2/large")" "checksum at the server"
unmount_export
mount_export
same "$sum" "$(sha256sum <"$mnt/large")" "checksum of what is read back"
same "$sum" "$(dd if="$mnt/large" iflag=direct bs=1M 2>/dev/null | sha256sum)" "the same with O_DIRECT"
rm "$mnt/large"
guest_run "rm -r /export$2/big"
