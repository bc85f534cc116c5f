#!/usr/bin/env bash
# A user other than its owner writes to a set-id file: the write succeeds, and the server takes the bits away.
# Set-group-id directories hand on their group and, to directories, the bit.
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

# Below a set-group-id directory everything is of its group, and directories inherit the bit, whoever
# makes them and whatever mode they ask for, though they are not in that group.
group=5000
mkdir "$mnt/shared"
chgrp $group "$mnt/shared"
chmod 2777 "$mnt/shared"
for who in root other; do
  as_who=(env)
  if [ $who = other ]; then as_who=(as_other); fi
  for mask in 000 022 077; do
    name=$who-$mask
    "${as_who[@]}" sh -c 'umask "$1"; cd "$2"; mkdir "$3"; mkdir "$3/inner"; : >"$3/file"; mkfifo "$3/pipe"; ln -s x "$3/link"' \
      sh $mask "$mnt/shared" "$name" || fail "$name: could not be made"
    directory_mode=$(printf %o $((02777 & ~0$mask)))
    file_mode=$(printf %o $((0666 & ~0$mask)))
    for place in "$export" "$mnt" "$second"; do
      same "$directory_mode $group" "$(stat -c '%a %g' "$place/shared/$name")" "$place: directory of $name"
      same "$directory_mode $group" "$(stat -c '%a %g' "$place/shared/$name/inner")" "$place: directory in that"
      same "$file_mode $group" "$(stat -c '%a %g' "$place/shared/$name/file")" "$place: file of $name"
      same "$file_mode $group" "$(stat -c '%a %g' "$place/shared/$name/pipe")" "$place: pipe of $name"
      same $group "$(stat -c %g "$place/shared/$name/link")" "$place: link of $name"
    done
  done
done
