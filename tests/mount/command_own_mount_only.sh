#!/usr/bin/env bash
# However the mount ends, the program takes its own mount out of the tree and no other: another mount
# on the same directory, on top of it or below it stays, and the program ends all the same.
. "$(dirname "$0")/lib.sh"
# File systems are mounted here, and /sys is hidden: in a mount namespace that ends with the test.
if [ "$(id -u)" -eq 0 ] && [ -z "${NFSRDMA_NAMESPACE:-}" ]; then
  cd / && rm -rf "$work"
  NFSRDMA_NAMESPACE=1 exec unshare -m --propagation private bash "$here/$(basename "$0")"
fi
declare -A daemons=()

# start NAME [options]: a program in the foreground on $at, known by a name.
at=$mnt
start() {
  "$NFSRDMA_BIN/nfsrdma" -f -o "port=$port${2:+,$2}" 127.0.0.1:/ "$at" 2>"$work/$1.log" &
  daemons[$1]=$!
  wait_for "the mount $1" grep -q 'is mounted' "$work/$1.log"
}
# ended NAME: without being told again, and well.
ended() {
  local pid=${daemons[$1]} status=0
  wait_for "the end of $1" gone "$pid"
  wait "$pid" || status=$?
  same 0 $status "exit status of $1"
}
ends() {
  kill -TERM "${daemons[$1]}"
  ended "$1"
}
gone() { ! kill -0 "$1" 2>/dev/null || [ "$(cut -d' ' -f3 "/proc/$1/stat")" = Z ]; }
says() { grep -qF -- "$2" "$work/$1.log" || fail "$1 does not say '$2': $(cat "$work/$1.log")"; }
leave() {
  local status=$?
  kill -KILL "${daemons[@]}" 2>/dev/null || true
  umount -l "$work"/*/ "$work"/*/*/ 2>/dev/null || fusermount3 -uz "$mnt" 2>/dev/null || true
  clean_up $status
}
trap leave EXIT
start_responder
echo served >"$export/file"
mkdir "$export/sub"

# Detached while in use, and another one in its place.
start first
exec 9<"$mnt"
if [ "$(id -u)" -eq 0 ]; then umount -l "$mnt"; else fusermount3 -uz "$mnt"; fi
start second
ends first
same served "$(cat "$mnt/file" 2>&1)" "a file of the second mount"
refused "not connected" ls /proc/self/fd/9/
exec 9<&-

# A directory above the mount point gets another name.
mkdir -p "$work/above/m"
at=$work/above/m
start renamed
mv "$work/above" "$work/other"
same served "$(cat "$work/other/m/file")" "a file below the new name"
ends renamed
same "" "$(ls "$work/other/m")" "what is left on the mount point of the new name"
at=$mnt
ends second
same "" "$(ls "$mnt")" "what is left on the mount point"
[ "$(id -u)" -eq 0 ] || exit 0

# On top, below, and in both places; with and without /sys/fs/fuse/connections.
put() { mount -t tmpfs "of $1" "$1" && echo precious >"$1/precious"; }
for hidden in no yes; do
  if [ $hidden = yes ]; then mount -t tmpfs nothing /sys; fi
  start on_top
  cat "$mnt/file" >/dev/null
  exec 9<"$mnt/file"
  put "$mnt"
  ends on_top
  says on_top "because tmpfs on $mnt lies on top of it"
  same precious "$(cat "$mnt/precious" 2>&1)" "a file of what is mounted on top"
  umount "$mnt"
  refused "not connected" ls "$mnt"
  exec 9<&-
  umount "$mnt"

  start below
  put "$mnt/sub"
  exec 9<"$mnt/sub"
  ends below
  says below "tmpfs on $mnt/sub"
  findmnt -n "$mnt/sub" >/dev/null || fail "what is mounted below was taken away"
  same precious "$(cat /proc/self/fd/9/precious)" "a file of what is mounted below"
  exec 9<&-
  umount -l "$mnt"

  # In use, and the server does not answer either.
  start used
  exec 9<"$mnt"
  same ok "$(control stop)" "stop"
  cat "$mnt/file" >/dev/null 2>&1 &
  reader=$!
  ends used
  wait $reader && fail "a read of a server that does not answer succeeded"
  same ok "$(control continue)" "continue"
  refused "not connected" ls /proc/self/fd/9/
  exec 9<&-
  mountpoint -q "$mnt" && fail "a mount in use was left"
done
umount /sys

# Moved; and copied to another directory, which only loses its program.
start moved
mkdir "$work/new" "$work/copy"
mount --bind "$mnt" "$work/copy"
mount --move "$mnt" "$work/new"
ends moved
mountpoint -q "$work/new" && fail "a moved mount was left"
refused "not connected" ls "$work/copy"
umount "$work/copy"

# The directory is removed in another namespace, where the mount is not: the kernel detaches it.
at=$work/removed
mkdir "$at"
start removed
unshare -m --propagation private sh -c "umount '$at' && rmdir '$at'"
ended removed

# The program was killed: what is left says so, and goes by an ordinary unmount.
at=$mnt
start killed
kill -KILL "${daemons[killed]}"
wait_for "the end of the killed program" gone "${daemons[killed]}"
wait "${daemons[killed]}" || true  # until its last thread is gone, which has /dev/fuse open, too
refused "not connected" ls "$mnt"
fusermount3 -u "$mnt"
