#!/usr/bin/env bash
# Files are created, written, read, copied and removed with the contents and metadata of a local file
# system; what the mount shows is what the server has.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

echo hello >"$mnt/small"
same hello "$(cat "$mnt/small")" "small file"
same hello "$(cat "$export/small")" "small file at the server"
for size in 0 1 4095 4096 4097 65535 65536 65537 1048575 1048576 1048577 3000001; do
  head -c $size /dev/urandom >"$work/data"
  cp "$work/data" "$mnt/data"
  cmp "$work/data" "$mnt/data"
  cmp "$work/data" "$export/data"
  same $size "$(stat -c %s "$mnt/data")" "size"
done

same "$(stat -c '%s %a %h %i %u %g' "$export/data")" "$(stat -c '%s %a %h %i %u %g' "$mnt/data")" "stat"
same "$(stat -c '%y' "$export/data")" "$(stat -c '%y' "$mnt/data")" "mtime"
same "$(ls -i "$export" | sort)" "$(ls -i "$mnt" | sort)" "ls -i"
same "$(cd "$export" && find . | sort)" "$(cd "$mnt" && find . | sort)" "find"
read -r blocks < <(stat -f -c %b "$mnt")
[ "$blocks" -gt 0 ] || fail "df shows no size"
grep -q "127.0.0.1:/" <<<"$(df "$mnt")" || fail "df shows no source"

rm "$mnt/small" "$mnt/data"
same "" "$(ls -A "$export")" "everything removed"
refused "No such file" cat "$mnt/small"
refused "Is a directory" cat "$mnt"
mkdir "$mnt/d" "$mnt/d/e"
refused "not empty" rmdir "$mnt/d"
refused "File exists" mkdir "$mnt/d"
rmdir "$mnt/d/e" "$mnt/d"
