#!/usr/bin/env bash
# rename(2): over nothing, a file, a directory, itself, an open file; the flags of renameat2(2).
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

echo one >"$mnt/a"
inode=$(stat -c %i "$mnt/a")
mv "$mnt/a" "$mnt/b"
same "one $inode" "$(cat "$mnt/b") $(stat -c %i "$mnt/b")" "renamed"
[ ! -e "$mnt/a" ] || fail "the old name is still there"
echo two >"$mnt/c"
mv "$mnt/c" "$mnt/b"
same two "$(cat "$mnt/b")" "renamed over a file"
mkdir "$mnt/d" "$mnt/e"
mv "$mnt/b" "$mnt/d/b"
same two "$(cat "$mnt/d/b")" "moved to another directory"
mv -T "$mnt/d" "$mnt/e"
same two "$(cat "$mnt/e/b")" "directory renamed over an empty one"
mkdir "$mnt/d"
same ENOTEMPTY "$(errno_of "os.rename('$mnt/d', '$mnt/e')")" "over a directory with entries"
same EISDIR "$(errno_of "os.rename('$mnt/e/b', '$mnt/d')")" "file over directory"
same ENOTDIR "$(errno_of "os.rename('$mnt/d', '$mnt/e/b')")" "directory over file"
same EINVAL "$(errno_of "os.rename('$mnt/e', '$mnt/e/inside')")" "into itself"
same ENOENT "$(errno_of "os.rename('$mnt/none', '$mnt/x')")" "of nothing"
ln "$mnt/e/b" "$mnt/e/same"
same ok "$(errno_of "os.rename('$mnt/e/b', '$mnt/e/same')")" "over another name of the same file"
same 2 "$(stat -c %h "$mnt/e/b")" "which does nothing"

renameat2() { errno_of "libc.renameat2(-100, b'$1', -100, b'$2', $3)"; }
echo other >"$mnt/other"
same EINVAL "$(renameat2 "$mnt/other" "$mnt/new" 1)" RENAME_NOREPLACE
same EINVAL "$(renameat2 "$mnt/other" "$mnt/e/b" 2)" RENAME_EXCHANGE
mv -n "$mnt/other" "$mnt/e/b"
same two "$(cat "$mnt/e/b")" "mv -n keeps what is there"

# Over a file that is open: its reader goes on reading the old one.
echo old >"$mnt/target"
exec 5<"$mnt/target"
echo new >"$mnt/source"
mv "$mnt/source" "$mnt/target"
same new "$(cat "$mnt/target")" "the new file"
same old "$(cat <&5)" "the open file"
exec 5<&-
wait_for "the silly name to go" sh -c "! ls -A '$export' | grep -q '^\.nfs'"

# The same while the source is open for writing, as editors do.
exec 6>"$mnt/source"
echo first >&6
exec 5<"$mnt/target"
mv "$mnt/source" "$mnt/target"
echo second >&6
exec 6>&-
same $'first\nsecond' "$(cat "$mnt/target")" "written under both names"
same new "$(cat <&5)" "the replaced open file"
exec 5<&-
wait_for "the silly name to go" sh -c "! ls -A '$export' | grep -q '^\.nfs'"

# No program finds the name missing meanwhile: the open file gets its other name while it has that one.
# over_open_file: a rename(2) over a file that is open, in the background.
over_open_file() {
  echo old >"$mnt/target"
  exec 5<"$mnt/target"
  echo new >"$mnt/source"
  python3 -c "import os; os.rename('$mnt/source', '$mnt/target')" 2>"$work/refused" &
  renaming=$!
}
no_silly_name() { ! grep -q '^\.nfs' <<<"$(ls -A "$export")"; }
control fault nfsstat=NFS4ERR_DELAY:op=RENAME >/dev/null
over_open_file
wait_for "the silly name" sh -c "ls -A '$export' | grep -q '^\.nfs'"
same "old 2" "$(cat "$export/target") $(stat -c %h "$export/target")" "the name that is to be replaced"
control clear >/dev/null
wait $renaming || fail "the rename that was held back"
same "new old" "$(cat "$mnt/target") $(cat <&5)" "replaced, and the open file"
exec 5<&-
wait_for "the silly name to go" no_silly_name

# A rename that fails leaves no other name behind.
control fault nfsstat=NFS4ERR_ACCESS:op=RENAME:times=1 >/dev/null
over_open_file
if wait $renaming; then fail "a rename was refused and succeeded"; fi
grep -q PermissionError "$work/refused" || fail "refused: $(cat "$work/refused")"
same "old 1" "$(cat "$mnt/target") $(stat -c %h "$mnt/target")" "the name that was not replaced"
no_silly_name || fail "the silly name of a rename that failed"
exec 5<&-

# A server that cannot link.
control fault nfsstat=NFS4ERR_NOTSUPP:op=LINK >/dev/null
over_open_file
wait $renaming || fail "a rename where files cannot be linked"
same "new old" "$(cat "$mnt/target") $(cat <&5)" "replaced without a link, and the open file"
exec 5<&-
wait_for "the silly name to go" no_silly_name
