#!/usr/bin/env bash
# autofs mounts what its map says when somebody looks, and unmounts it when nobody has looked for a while.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
[ "$(id -u)" -eq 0 ] || skip "only root runs automount"
automount=$(PATH=$PATH:/usr/sbin:/sbin command -v automount) || skip "no automount (Debian package autofs)"
[ -c /dev/autofs ] || skip "no /dev/autofs"
unshare -m true 2>/dev/null || skip "no mount namespace"
start_responder
echo served >"$export/file"
mkdir "$work/auto"
cp "$automount" "$work/automount"  # /sbin is covered below
echo "$work/auto file:$work/auto.nfsrdma --timeout=1" >"$work/auto.master"
echo "data -fstype=nfsrdma,port=$port,log=$work/auto.log 127.0.0.1:/" >"$work/auto.nfsrdma"

cat >"$work/inside" <<'EOF'
set -eu
mount -t tmpfs tmpfs /sbin 2>/dev/null || mount -t tmpfs tmpfs /usr/sbin
ln -s "$NFSRDMA_BIN/nfsrdma" /sbin/mount.nfsrdma
# Not of the group of those who look: to the kernel that would be the daemon itself.
setsid "$work/automount" -f -v --pid-file "$work/automount.pid" "$work/auto.master" >"$work/automount.log" 2>&1 &
automount=$!
trap 'kill $automount 2>/dev/null; wait $automount || true' EXIT
looks=0
while ! grep -q " $work/auto autofs " /proc/mounts; do
  looks=$((looks + 1))
  [ $looks -lt 1200 ] || { echo "automount does not begin"; exit 1; }
  kill -0 $automount || exit 77
  sleep 0.05
done
cat "$work/auto/data/file"
grep -q " $work/auto/data fuse.nfsrdma " /proc/mounts || { echo "not mounted"; exit 1; }
looks=0
while grep -q " $work/auto/data fuse.nfsrdma " /proc/mounts; do
  looks=$((looks + 1))
  [ $looks -lt 1200 ] || { echo "not unmounted when nobody looks"; exit 1; }
  sleep 0.05
done
cat "$work/auto/data/file"
EOF
export work NFSRDMA_BIN
status=0
PATH=/usr/bin:/bin timeout 150 unshare -m --propagation private bash "$work/inside" >said.out 2>said.err || status=$?
[ $status -ne 77 ] || skip "automount does not run here: $(tail -n 1 "$work/automount.log")"
[ $status -eq 0 ] || fail "$(cat said.out said.err)"
same "served served" "$(paste -sd' ' said.out)" "a file, before and after autofs has unmounted"
same 2 "$(grep -c 'is mounted, by process' auto.log)" "mounts"
