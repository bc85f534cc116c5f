#!/usr/bin/env bash
# A directory that another client has removed and made again under its name: the first listing of the path is that of the new one,
# and so is the first change in it, whatever names the kernel remembers. A listing costs the requests that it has cost before.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export actimeo=600
other=$work/other
mount_export "" "$other"

# remake: the tree p/d with a file each, which this mount has listed, is made again by the other one, with one name of before and a new one.
remake() {
  rm -rf "$other/p"
  mkdir -p "$other/p/d"
  touch "$other/p/d/both" "$other/p/d/old"
  same "both old" "$(ls "$mnt/p/d" | xargs)" "before"
  rm -rf "$other/${1:-p/d}"
  mkdir -p "$other/p/d"
  echo text >"$other/p/d/new"
  echo text >"$other/p/d/both"
}

for gone in p/d p; do
  remake $gone
  same "both new" "$(ls "$mnt/p/d" | xargs)" "the first ls, $gone made again"
  remake $gone
  same "$mnt/p/d/both $mnt/p/d/new" "$(find "$mnt/p/d" -type f | sort | xargs)" "the first find, $gone made again"
  remake $gone
  cp -r "$mnt/p/d" "$work/copy" || fail "the first cp -r, $gone made again"
  same text "$(cat "$work/copy/new")" "what cp -r has copied"
  rm -rf "$work/copy"
  remake $gone
  same "both new" "$(python3 -c "import os; print(*sorted(os.listdir(os.open('$mnt/p/d', os.O_DIRECTORY))))")" \
    "a listing through a descriptor"
  for change in "touch $mnt/p/d/made" "mv $mnt/p/d/both $mnt/p/d/made"; do
    remake $gone
    $change || fail "the first change, $gone made again: $change"
    [ -e "$export/p/d/made" ] || fail "nothing was made: $change"
  done
  # mkdir(2), symlink(2), link(2) and mknod(2) look the new name up first. The kernel looks the path up again when the change itself is
  # stale, and not when this look-up is: such a call may fail, once.
  for change in "mkdir $mnt/p/d/made" "ln -s x $mnt/p/d/made"; do
    remake $gone
    $change 2>"$work/first" || {
      grep -q 'Stale file handle' "$work/first" || fail "$change: $(cat "$work/first")"
      wait_for "a name that is looked up again" $change 2>/dev/null
    }
    [ -e "$export/p/d/made" ] || [ -L "$export/p/d/made" ] || fail "nothing was made: $change"
  done
  remake $gone
  rm "$mnt/p/d/both" || fail "the first rm, $gone made again"
done

# What is open stays the old one, which is gone.
remake
exec 7<"$mnt/p/d"
rm -rf "$other/p/d"
same ESTALE "$(errno_of "os.open('made', os.O_CREAT, dir_fd=os.open('/proc/$$/fd/7', os.O_PATH))")" "a file made in a directory that is gone"
exec 7<&-

# One READDIR for a directory that fits one, of which a moment later nothing is shown that is older.
mkdir "$mnt/kept"
touch "$mnt/kept/one"
before=$(served READDIR)
same one "$(ls "$mnt/kept")" "a listing"
same $((before + 1)) "$(served READDIR)" "READDIR: one listing"
cat >"$work/begin_again.py" <<'PY'
import os, sys
fd = os.open(sys.argv[1], os.O_DIRECTORY)
open(sys.argv[1] + "/two", "w").close()
first = sorted(os.listdir(fd))
os.unlink(sys.argv[2] + "/one")
os.lseek(fd, 0, os.SEEK_SET)
print(*first, "then", *sorted(os.listdir(fd)))
PY
same "one two then two" "$(python3 "$work/begin_again.py" "$mnt/kept" "$other/kept")" "names made here after the open, and a second listing"

