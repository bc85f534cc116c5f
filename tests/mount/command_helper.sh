#!/usr/bin/env bash
# As mount(8) calls it: mount.nfsrdma and mount.fuse.nfsrdma, with that program's letters.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
start_responder
helper=$work/mount.fuse.nfsrdma
ln -s "$NFSRDMA_BIN/nfsrdma" "$helper"

expect 1 "unknown option frob" "$helper" 127.0.0.1:/ "$mnt" -o "rw,frob,port=$port"
"$helper" 127.0.0.1:/ "$mnt" -f -o "port=$port"
not_mounted "$mnt" || fail "-f (fake) mounted something"

"$helper" 127.0.0.1:/ "$mnt" -s -n -v -t fuse.nfsrdma \
  -o "rw,frob,_netdev,nofail,x-systemd.automount,port=$port" 2>"$work/notes"
mountpoint -q "$mnt" || fail "the helper mounted nothing"
grep -q "frob" "$work/notes" || fail "-v does not tell of the option that is not known"
fusermount3 -u "$mnt"

"$helper" 127.0.0.1:/ "$mnt" -r -o "port=$port"
findmnt -no OPTIONS "$mnt" | grep -q '^ro' || fail "-r did not mount read only"
fusermount3 -u "$mnt"

# In another mount namespace.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
  unshare -m --propagation private sleep 600 &
  holder=$!
  wait_for "the namespace" sh -c \
    "[ \"\$(readlink /proc/$holder/ns/mnt)\" != \"\$(readlink /proc/self/ns/mnt)\" ]"
  "$helper" 127.0.0.1:/ "$mnt" -N $holder -o "port=$port"
  not_mounted "$mnt" || fail "-N mounted in our namespace"
  nsenter -m -t $holder mountpoint -q "$mnt" || fail "-N mounted nowhere"
  nsenter -m -t $holder umount "$mnt"
  kill $holder
else
  echo "not tried: -N (needs root)"
fi
