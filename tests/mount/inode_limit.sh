#!/usr/bin/env bash
# No more files are known than inodes= says, all names are found all the same, and files in use stay. In a cgroup with little memory
# the limit follows from that, and the mount outlives a find. NFSRDMA_NAMES: names (default 30000); NFSRDMA_MEBIBYTES: memory of the
# cgroup (default 200).
. "$(dirname "$0")/lib.sh"
: "${NFSRDMA_NAMES:=30000}" "${NFSRDMA_MEBIBYTES:=200}"
cgroup=
leave() {
  local status=$?
  end_mounts || status=1
  # It can go when the daemon has gone.
  if [ -n "$cgroup" ]; then rmdir "$cgroup" || true; fi
  clean_up $status
}
trap leave EXIT
python3 -S - "$export" "$NFSRDMA_NAMES" <<'PY'
import os, sys
for folder in range(4):
    os.mkdir(f"{sys.argv[1]}/{folder}")
for number in range(int(sys.argv[2])):
    os.close(os.open(f"{sys.argv[1]}/{number % 4}/entry-{number}-with-a-longer-name", os.O_CREAT | os.O_WRONLY, 0o666))
PY
echo text >"$export/used"
start_responder
known() { counter fs_inodes "$1"; }
at_most() { [ "$(known "$2")" -le "$1" ]; }

mount_export inodes=2000
same 2000 "$(counter fs_inodes_most)" "the limit"
exec 7<"$mnt/used"
[ "$(find "$mnt" | wc -l)" -eq $((NFSRDMA_NAMES + 6)) ] || fail "names that find finds"
wait_for "no more files than may be known" at_most 2000 0
# Each file is looked up, and the kernel is asked to forget others.
[ "$(find "$mnt" -size 0 -type f | wc -l)" -eq "$NFSRDMA_NAMES" ] || fail "files that find asks about"
wait_for "no more files than may be known after each was looked up" at_most 2000 0
[ "$(counter fs_inodes_given_back)" -gt 0 ] || fail "the kernel was not asked to forget anything"
same text "$(cat <&7)" "a file that was open all the time"
exec 7<&-
cat "$mnt/used" >/dev/null

# The limit of a cgroup.
skip_cgroup() { echo "not tried with a cgroup: $*"; exit 0; }
[ "$(id -u)" -eq 0 ] || skip_cgroup "only root makes one"
case "$NFSRDMA_BIN" in *asan* | *tsan*) skip_cgroup "a sanitizer's memory is its own" ;; esac
for each in /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max /sys/fs/cgroup/cgroup.subtree_control; do
  if [ -e "$each" ]; then top=$(dirname "$each"); break; fi
done
[ -n "${top:-}" ] || skip_cgroup "there are none"
mkdir "$top/nfsrdma-test-$$" 2>/dev/null || skip_cgroup "it cannot be made"
cgroup=$top/nfsrdma-test-$$
bytes=$((NFSRDMA_MEBIBYTES << 20))
echo $bytes 2>/dev/null >"$cgroup/memory.limit_in_bytes" || echo $bytes 2>/dev/null >"$cgroup/memory.max" || skip_cgroup "its memory cannot be limited"
# A shell in it starts the daemon.
cat >"$work/in_cgroup" <<P
#!/bin/sh
echo \$\$ >"$cgroup/cgroup.procs" && exec "$NFSRDMA_BIN/nfsrdma" "\$@"
P
chmod +x "$work/in_cgroup"
mkdir "$work/small"
"$work/in_cgroup" -f -o "proto=$NFSRDMA_PROTO,port=$port,stats=$work/mount1.stats${NFSRDMA_MOUNT_OPTIONS:+,$NFSRDMA_MOUNT_OPTIONS}" \
  127.0.0.1:/ "$work/small" >"$work/mount1.log" 2>&1 &
mount_pids[1]=$!
mount_points[1]=$work/small
wait_for "the mount in a cgroup" mountpoint -q "$work/small"
most=$(counter fs_inodes_most 1)
[ "$most" -le $((NFSRDMA_MEBIBYTES * 128)) ] || fail "$most inodes in $NFSRDMA_MEBIBYTES MiB"
[ "$(find "$work/small" | wc -l)" -eq $((NFSRDMA_NAMES + 6)) ] || fail "names that find finds, in a cgroup"
[ "$(find "$work/small" -size 0 -type f | wc -l)" -eq "$NFSRDMA_NAMES" ] || fail "files that find asks about, in a cgroup"
kill -0 "${mount_pids[1]}" || fail "the daemon is gone"
same text "$(cat "$work/small/used")" "a file after that"
wait_for "no more files than may be known in a cgroup" at_most "$most" 1
