#!/usr/bin/env bash
# Somebody other than its owner writes to a set-id file: the write succeeds, and the server takes the bits away.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to be two users"
start_responder
chmod 755 "$work"
chmod 777 "$export"
second=$work/second
mount_export allow_other
mount_export allow_other "$second"
as_other() { setpriv --reuid $ordinary_user --regid $ordinary_user --clear-groups "$@"; }

# what is done to the file, as a shell command with its name as $1
for change in 'printf x >>"$1"' 'printf x >"$1"' 'truncate -s 1 "$1"' 'printf x 1<>"$1"' \
  'dd if=/dev/zero of="$1" bs=64k count=4 conv=notrunc status=none'; do
  printf long >"$mnt/file"
  chmod 6777 "$mnt/file"
  same 6777 "$(stat -c %a "$second/file")" "the mode before"
  as_other sh -c "$change" sh "$mnt/file" || fail "refused: $change"
  for place in "$export" "$mnt"; do
    same 777 "$(stat -c %a "$place/file")" "the mode in $place after $change"
  done
  rm "$mnt/file"
done

# The owner keeps them, being root; and only an owner takes them away by himself.
printf long >"$mnt/file"
chmod 6777 "$mnt/file"
printf x >>"$mnt/file"
same 6777 "$(stat -c %a "$mnt/file")" "the mode after root has written"
as_other chmod 777 "$mnt/file" 2>/dev/null && fail "chmod by another user succeeded"
same 6777 "$(stat -c %a "$export/file")" "the mode after a refused chmod"
