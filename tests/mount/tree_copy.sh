#!/usr/bin/env bash
# A real tree: copied in with cp -a and tar, compared here, at the server and after mounting again.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
tree=/usr/include/c++
[ -d $tree ] || tree=/usr/share/doc

list() { (cd "$1" && find . -printf '%p %y %m %s %T@ %l\n' | sed 's/^\(.* d [0-7]* \)[0-9]* /\1/' | sort); }
cp -a $tree "$work/source"
chmod -R u+w "$work/source"
cp -a "$work/source" "$mnt/copy"
diff -r --no-dereference "$work/source" "$mnt/copy"
list "$work/source" >"$work/list.source"
list "$mnt/copy" >"$work/list.copy"
diff "$work/list.source" "$work/list.copy"
same "$(du -s --apparent-size "$export/copy" | cut -f1)" "$(du -s --apparent-size "$mnt/copy" | cut -f1)" "du"

unmount_export
mount_export
diff -r --no-dereference "$work/source" "$mnt/copy"
tar -C "$mnt" -cf "$work/tar" copy
mkdir "$mnt/untarred"
tar -C "$mnt/untarred" -xf "$work/tar"
diff -r --no-dereference "$work/source" "$mnt/untarred/copy"
rm -rf "$mnt/copy" "$mnt/untarred"
same "" "$(ls -A "$export")" "everything removed"
