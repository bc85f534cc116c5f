#!/usr/bin/env bash
# P23: a large directory whose attributes are out of date is looked at again page by page, not name
# by name; a rename makes the client not ask for the attributes of the names beside it.
. "$(dirname "$0")/lib.sh"
start_responder
entries=$(scaled 10000 100000)
mkdir "$export/d"
(cd "$export/d" && seq -f 'entry-%06.0f' "$entries" | xargs touch)
mount_export "acregmin=2,acregmax=2,acdirmin=2,acdirmax=2"

# asked: requests for attributes or names, one by one, so far.
asked() { echo $(($(served GETATTR) - $(served READDIR))); }

list() { ls -lU "$mnt/d" | tail -n +2 | wc -l; }
same "$entries" "$(list)" "entries"
pages=$(served READDIR)
sleep 3  # the attributes are out of date
before=$(server_counter nfs.compounds)
same "$entries" "$(list)" "entries again"
calls=$(($(server_counter nfs.compounds) - before))
[ "$calls" -le $((2 * pages + 20)) ] ||
  fail "$calls requests to list $entries entries again, which are $pages pages"

# Names and attributes are fresh: a rename in the same directory leaves them so.
unmount_export
mount_export "acregmin=600,acregmax=600,acdirmin=600,acdirmax=600"
list >/dev/null
count=$(scaled 2000 10000)
names=$(seq -f "$mnt/d/entry-%06.0f" 2 "$count")
stat_all() { echo "$names" | xargs stat -c %s | wc -l; }
same $((count - 1)) "$(stat_all)" "files"
mv "$mnt/d/entry-000001" "$mnt/d/renamed"
before=$(server_counter nfs.compounds)
same $((count - 1)) "$(stat_all)" "files after the rename"
calls=$(($(server_counter nfs.compounds) - before))
[ "$calls" -le 20 ] || fail "$calls requests to stat $count files after a rename beside them"
