#!/usr/bin/env bash
# Close-to-open between two mounts: what one has closed, the other sees when it opens.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
mount_export "" "$work/mnt2"
other=$work/mnt2

echo one >"$mnt/f"
same one "$(cat "$other/f")" "written, then opened elsewhere"
# Same size, longer, shorter: with the file's pages and attributes cached on the reading side.
for text in two longer-than-before x; do
  echo $text >"$mnt/f"
  same $text "$(cat "$other/f")" "written anew"
  same $text "$(cat "$mnt/f")" "and here"
done
for i in $(seq 20); do
  echo "line $i" >>"$mnt/log"
  same "$(md5sum <"$mnt/log")" "$(md5sum <"$other/log")" "appended $i times"
done
for i in $(seq 10); do
  echo "a$i" >>"$mnt/both"
  echo "b$i" >>"$other/both"
done
same 20 "$(wc -l <"$mnt/both")" "appended in turns"
truncate -s 3 "$other/log"
same lin "$(cat "$mnt/log")" "truncated elsewhere"

# Big enough to be read ahead.
head -c 5M /dev/urandom >"$mnt/big"
cmp "$mnt/big" "$other/big"
printf X | dd of="$other/big" bs=1 seek=3000000 conv=notrunc status=none
same X "$(dd if="$mnt/big" bs=1 skip=3000000 count=1 status=none)" "one byte changed elsewhere"
cmp "$mnt/big" "$export/big"

# A reader that has it open keeps its view consistent, and sees the change after opening again.
exec 5<"$other/f"
echo changed >"$mnt/f"
same changed "$(cat "$other/f")" "another open of the same file"
exec 5<&-

# Removed and made anew elsewhere: the cached handle is stale, the open succeeds all the same.
cat "$other/f" >/dev/null
rm "$mnt/f"
echo reborn >"$mnt/f"
wait_for "the new file" sh -c "[ \"\$(cat '$other/f')\" = reborn ]"
