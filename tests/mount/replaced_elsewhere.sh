#!/usr/bin/env bash
# A name that the kernel remembers opens the file that it leads to now: another client may have renamed the old one, or have
# replaced or removed it while the server keeps it because a third client has it open. A file that is open here can be opened again.
# So does a name that it takes for missing.
counts_caches=yes
. "$(dirname "$0")/lib.sh"
start_responder
mount_export actimeo=600
other=$work/other third=$work/third
mount_export actimeo=600 "$other"
mount_export actimeo=600 "$third"
for name in replaced listed removed; do echo old >"$export/$name"; done
same "old old old" "$(cat "$mnt"/{replaced,listed,removed} | xargs)" "files of which the names are remembered"
ls -l "$mnt" >/dev/null
exec 7<"$third/replaced" 8<"$third/listed" 9<"$third/removed"
for name in replaced listed; do
  echo new >"$other/new"
  mv "$other/new" "$other/$name"
done
rm "$other/removed"
same new "$(cat "$mnt/replaced")" "a file that was replaced"
same new "$(cat "$mnt/listed")" "another one"
if cat "$mnt/removed"; then fail "a file that was removed is opened"; fi
same "old old old" "$(cat <&7 | xargs) $(cat <&8) $(cat <&9)" "what is open elsewhere"
exec 7<&- 8<&- 9<&-

echo old >"$mnt/log"
same old "$(cat "$mnt/log")" "a log"
mv "$other/log" "$other/log.1"
echo new >"$other/log"
same new "$(cat "$mnt/log")" "a log that was rotated"
before=$(served OPEN)
same new "$(cat "$mnt/log")" "the same again"
same $((before + 1)) "$(served OPEN)" "OPEN: a name that is right"

# A name that is taken for missing: open(2) with O_CREAT finds what another client has made there.
for name in link pipe; do [ ! -e "$mnt/$name" ] || fail "$name is early"; done
echo one >"$other/target"
ln -s target "$other/link"
mkfifo "$other/pipe"
echo two >>"$mnt/link"
same "one two" "$(xargs <"$export/target")" "what a symbolic link leads to"
exec 6<>"$mnt/pipe"
[ -p "/proc/$$/fd/6" ] || fail "it is no FIFO"
exec 6>&-

echo old >"$mnt/open"
exec 9<"$mnt/open"
rm "$other/open"
same old "$(cat "/proc/$$/fd/9")" "a file that is open here, and was removed elsewhere, is opened again"
exec 9<&-
