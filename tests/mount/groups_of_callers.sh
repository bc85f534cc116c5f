#!/usr/bin/env bash
# The mount of an ordinary user has the groups of each caller, not those of the session that it was made in: a group that the user
# was given since counts, and one that a process has given up does not.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to choose the groups of processes"
[ "$(stat -c %a /dev/fuse)" = 666 ] || skip "/dev/fuse is not open to ordinary users"
chmod 755 "$work"
cp "$NFSRDMA_BIN/nfsrdma" "$work/nfsrdma"
gone() { ! kill -0 "$1" 2>/dev/null || [ "$(cut -d' ' -f3 "/proc/$1/stat")" = Z ]; }
daemon=
leave() {
  local status=$?
  umount "$work/merged" 2>/dev/null || true
  umount -l "$mnt" 2>/dev/null || true
  [ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null || true
  clean_up $status
}
trap leave EXIT
mkdir "$export/project"
echo shared >"$export/project/file"
chgrp -R 4242 "$export/project"
chmod 2770 "$export/project"
chmod 660 "$export/project/file"
chown $ordinary_user "$mnt"
start_responder
with_groups() { local groups=$1; shift; setpriv --reuid $ordinary_user --regid $ordinary_user "$groups" --inh-caps=-all "$@"; }

# run NAME GROUPS: a mount of the user that a process with these groups makes.
run() {
  with_groups "$2" "$work/nfsrdma" -f -o "proto=$NFSRDMA_PROTO,port=$port" 127.0.0.1:/ "$mnt" 2>"$work/$1.log" &
  daemon=$!
  wait_for "the mount $1" grep -q 'is mounted' "$work/$1.log"
}
ends() {
  local status=0
  with_groups --clear-groups fusermount3 -u "$mnt"
  wait_for "the end of $1" gone "$daemon"
  wait "$daemon" || status=$?
  daemon=
  same 0 $status "exit status of $1"
  same 0 "$(grep -c 'that /proc does not show' "$work/$1.log")" "words of $1 about hidden callers"
}

# A group that the user has got since, by a new login.
run before --clear-groups
refused "Permission denied" with_groups --clear-groups cat "$mnt/project/file"
same shared "$(with_groups --groups=4242 cat "$mnt/project/file")" "a file of a group that the program has not"
with_groups --groups=4242 sh -c "echo more >>'$mnt/project/file'"
refused "Permission denied" with_groups --groups=4243 cat "$mnt/project/file"
ends before

# A group that the program has, and a process has given up.
run member --groups=4242
refused "Permission denied" with_groups --clear-groups cat "$mnt/project/file"
refused "Permission denied" with_groups --clear-groups ls "$mnt/project"
same "shared more" "$(with_groups --groups=4242 cat "$mnt/project/file" | xargs)" "a file of the group"
ends member

# overlayfs makes the requests of whoever uses it in the name of its mounter: /proc shows such a caller, as another user.
"$work/nfsrdma" -f -o "proto=$NFSRDMA_PROTO,port=$port,allow_other" 127.0.0.1:/ "$mnt" 2>"$work/shared.log" &
daemon=$!
wait_for "the shared mount" grep -q 'is mounted' "$work/shared.log"
mkdir "$work/upper" "$work/scratch" "$work/merged"
if mount -t overlay -o "lowerdir=$mnt,upperdir=$work/upper,workdir=$work/scratch" overlay "$work/merged" 2>"$work/overlay.txt"; then
  chmod 755 "$export/project"
  chmod 644 "$export/project/file"
  same "shared more" "$(with_groups --groups=4242 cat "$work/merged/project/file" | xargs)" "a file through overlayfs"
  with_groups --clear-groups ls -l "$work/merged/project" >"$work/ls.txt"
  umount "$work/merged"
else
  echo "not tried: overlayfs ($(cat "$work/overlay.txt"))"
fi
umount "$mnt"
wait_for "the end of the shared mount" gone "$daemon"
wait "$daemon" || fail "the shared mount ended with status $?"
daemon=
same 0 "$(grep -c 'that /proc does not show' "$work/shared.log")" "words about hidden callers below overlayfs"
