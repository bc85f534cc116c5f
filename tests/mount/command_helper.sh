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
grep -q '^ro' <<<"$(findmnt -no OPTIONS "$mnt")" || fail "-r did not mount read only"
fusermount3 -u "$mnt"

# What mount(8) does with a line of fstab: it looks for the helper in /sbin, takes "suid,dev" out of
# the list, and hands the mount table's words back when it is to change a mount.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
  cat >"$work/by_mount" <<'EOF'
set -e
mount -t tmpfs tmpfs /sbin 2>/dev/null || mount -t tmpfs tmpfs /usr/sbin
for name in mount.nfsrdma mount.fuse.nfsrdma; do ln -s "$NFSRDMA_BIN/nfsrdma" /sbin/$name; done
mount -t nfsrdma -o "suid,dev,allow_other,port=$port" 127.0.0.1:/ "$mnt"
findmnt -no OPTIONS "$mnt" >"$work/honoured"
setpriv --reuid "$user" --regid "$user" --clear-groups "$mnt/id" -u >"$work/who" || true
mount -o remount,ro,noatime "$mnt"
findmnt -no OPTIONS "$mnt" >"$work/read_only_now"
touch "$mnt/id" 2>"$work/not_touched" && echo touched >>"$work/not_touched"
mount -o remount,rw,nosuid,noexec "$mnt"
findmnt -no OPTIONS "$mnt" >"$work/writable_now"
touch "$mnt/id"
mount -o remount,ro,soft "$mnt" 2>"$work/remount" && echo remounted >>"$work/remount"
findmnt -no OPTIONS "$mnt" >"$work/unchanged"
umount "$mnt"
mount -o remount,ro -t nfsrdma 127.0.0.1:/ "$mnt" 2>"$work/remount_of_nothing" && echo remounted >>"$work/remount_of_nothing"
echo "127.0.0.1:/ $mnt nfsrdma nosuid,_netdev,nconnect=8,fsc,port=$port 0 0" >"$work/fstab"
mount -T "$work/fstab" "$mnt" 2>"$work/fstab_said"
findmnt -no OPTIONS "$mnt" >"$work/refused"
# Words of fstab that are no flags, as it was mounted.
mount -T "$work/fstab" -o remount,ro "$mnt"
findmnt -no OPTIONS "$mnt" >"$work/fstab_read_only"
umount "$mnt"
# What mount(8) says of its own is not held against the configuration; it says "rw" in front of any list.
mount -t nfsrdma -o "config=$work/read_only,port=$port" 127.0.0.1:/ "$mnt"
findmnt -no OPTIONS "$mnt" >"$work/configured"
umount "$mnt"
EOF
  printf '[ NFSMount_Global_Options ]\nro\n' >"$work/read_only"
  cp /usr/bin/id "$export/id"
  chown 0:0 "$export/id"
  chmod 4755 "$export/id"
  chmod 755 "$work"
  export work mnt port NFSRDMA_BIN user=$ordinary_user
  PATH=/usr/bin:/bin unshare -m --propagation private sh "$work/by_mount"
  same 0 "$(cat "$work/who")" "who a set-user-ID program runs as"
  ! grep -qE 'nosuid|nodev' "$work/honoured" || fail "suid,dev: $(cat "$work/honoured")"
  grep -q nosuid "$work/refused" || fail "nosuid: $(cat "$work/refused")"
  grep -q '^ro' "$work/configured" || fail "ro of the configuration: $(cat "$work/configured")"
  for word in nconnect fsc; do
    grep -q "^nfsrdma: $word has no effect: " "$work/fstab_said" || fail "of $word in fstab nothing is said: $(cat "$work/fstab_said")"
  done
  grep -qE '^ro,.*\bnoatime\b' "$work/read_only_now" || fail "remount,ro,noatime: $(cat "$work/read_only_now")"
  grep -q 'Read-only file system' "$work/not_touched" || fail "touch after remount,ro: $(cat "$work/not_touched")"
  grep -qE '^rw,nosuid,noexec\b' "$work/writable_now" || fail "remount,rw,nosuid,noexec: $(cat "$work/writable_now")"
  grep -q "option remount: unmount and mount again for soft" "$work/remount" || fail "remount,soft: $(cat "$work/remount")"
  same "$(cat "$work/writable_now")" "$(cat "$work/unchanged")" "what a refused remount leaves"
  grep -q "nothing of nfsrdma is mounted on $mnt" "$work/remount_of_nothing" || fail "remount of nothing: $(cat "$work/remount_of_nothing")"
  grep -q '^ro,nosuid' "$work/fstab_read_only" || fail "remount,ro of a mount of fstab: $(cat "$work/fstab_read_only")"
else
  echo "not tried: mount(8) itself (needs root)"
fi

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
