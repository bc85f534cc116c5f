#!/usr/bin/env bash
# Names: the longest, one too long, with spaces, newlines, other scripts, and leading dashes.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

longest=$(printf 'n%.0s' $(seq 255))
for name in "$longest" ' leading and  double spaces ' $'new\nline' $'tab\tbell\a' 'Grüße' '名前' '🙂' '-n' \
  "quote'\"\`\$HOME" '...' 'a:b|c<d>e*f?g'; do
  printf '%s\n' "$name" >"$mnt/$name"
  same "$name" "$(cat "$mnt/$name")" "contents"
  [ -f "$export/$name" ] || fail "the server has another name for $name"
  mv "$mnt/$name" "$mnt/other"
  mv "$mnt/other" "$mnt/$name"
done
same "$(cd "$export" && find . -print0 | sort -z | sha256sum)" \
  "$(cd "$mnt" && find . -print0 | sort -z | sha256sum)" "all names"
same ENAMETOOLONG "$(errno_of "os.stat('$mnt/${longest}n')")" "stat of a name too long"
same ENAMETOOLONG "$(errno_of "os.mkdir('$mnt/${longest}n')")" "mkdir of a name too long"
same 255 "$(stat -f -c %l "$mnt")" "longest name by statfs"

deep=$mnt
for _ in $(seq 60); do deep=$deep/directory; done
mkdir -p "$deep"
echo deep >"$deep/file"
same deep "$(cat "$deep/file")" "sixty directories deep"
same "$deep" "$(cd "$deep" && env -u PWD /bin/pwd)" "getcwd"
rm -rf "$mnt/directory"
