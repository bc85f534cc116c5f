#!/usr/bin/env bash
# What another user's program says at a control socket counts for root where the mount is that user's, and nowhere else:
# it neither stands for root's mount nor hides it, gets no file of root, and delays nothing by saying nothing.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "only root asks mounts of other users"
[ "$(stat -c %a /dev/fuse)" = 666 ] || skip "/dev/fuse is not open to ordinary users"
[ -x "$NFSRDMA_BIN/nfsrdmactl" ] || skip "no $NFSRDMA_BIN/nfsrdmactl"
# In a mount namespace, where the directories of sockets are the test's own.
if [ -z "${NFSRDMA_NAMESPACE:-}" ]; then
  cd / && rm -rf "$work"
  NFSRDMA_NAMESPACE=1 exec unshare -m --propagation private bash "$here/$(basename "$0")"
fi
hide_other_sockets
unset XDG_RUNTIME_DIR
ctl() { timeout 120 "$NFSRDMA_BIN/nfsrdmactl" "$@"; }
json() { python3 -S -c "import json, sys; x = json.load(sys.stdin); print($1)"; }
# pids_at [NAME]: of the mounts that answer.
pids_at() { ctl list --json "$@" 2>said.err | json "' '.join(sorted(m['pid'] for m in x))"; }
theirs=/tmp/nfsrdma-$ordinary_user
as_other=(setpriv --reuid $ordinary_user --regid $ordinary_user --clear-groups --inh-caps=-all)
chmod 1777 "$work"
declare -a programs=()
mount_of_other=
# start NAME command...: as the other user, until its log says ready; sets $started.
start() {
  local log=$work/$1.said
  shift
  USER_ID=$ordinary_user python3 -S "$here/control_of_others.py" "$1" "$theirs" "${@:2}" &
  started=$!
  programs+=("$started")
  wait_for "$1" grep -q '^ready' "$log"
}
stop() { kill "$1" 2>/dev/null && wait "$1" 2>/dev/null || true; }
trap 'status=$?; for each in "${programs[@]}"; do stop "$each"; done
  umount -l "$work/other" 2>/dev/null || true
  [ -z "$mount_of_other" ] || wait "$mount_of_other" || true
  clean_up $status' EXIT

start_responder
echo served >"$export/file"
mount_export
mount_of_root=${mount_pids[0]}
same "600" "$(stat -c %a "/run/nfsrdma/$mount_of_root.sock")" "mode of the socket"
same "600" "$(stat -c %a "$work/control")" "mode of the responder's"

# The mount of another user, which root may ask.
mkdir "$work/programs" "$work/other"
cp "$NFSRDMA_BIN/nfsrdma" "$work/programs"
chown $ordinary_user:$ordinary_user "$work/other"
"${as_other[@]}" "$work/programs/nfsrdma" -f -o "proto=$NFSRDMA_PROTO,port=$port" 127.0.0.1:/ "$work/other" >mount_other.log 2>&1 &
mount_of_other=$!
wait_for "the other user's mount" grep -q 'is mounted, by process' mount_other.log
both=$(printf '%s\n' "$mount_of_root" "$mount_of_other" | sort | paste -sd' ')
same "$both" "$(pids_at)" "mounts of both users"
same "$mount_of_other" "$(pids_at "$work/other")" "the other user's mount by its mount point"
same "$mount_of_other" "$(pids_at "$mount_of_other")" "the other user's mount by its process"

# unharmed WHAT: root's mount answers by each of its names, and a scrape has its counters.
unharmed() {
  same "$both" "$(pids_at)" "mounts beside $1"
  same "$mount_of_root" "$(pids_at "$mnt")" "root's mount beside $1"
  same "$mount_of_root" "$(pids_at "$mount_of_root")" "the process of root's mount beside $1"
  ctl metrics >metrics.txt 2>said.err
  ! grep 424242 metrics.txt || fail "counters of $1"
  same 1 "$(grep -c "^nfsrdma_fs_inodes{mount_point=\"$mnt\"" metrics.txt)" "series of root's mount beside $1"
  ctl capture on "$work/$2.pcapng" "$mnt" >said.out
  ctl capture off "$mnt" >said.out
  ! grep 'files [1-9]' ./*.said || fail "a file of root went to $1"
}
start mount liar "$work/mount.said" "mount_point $mnt"
liar=$started
unharmed "a program that says it serves root's mount" mount
same 1 "$(ctl list 2>&1 >said.out | grep -c "user $ordinary_user says that it is process $liar, which serves $mnt: that is not so")" "what is said of it"
start process liar "$work/process.said" "mount_point $work/other" "pid $mount_of_root"
unharmed "a program that says it is the process of root's mount" process
ln -s "/run/nfsrdma/$mount_of_root.sock" "$theirs/1.sock"
chown -h $ordinary_user "$theirs/1.sock"
unharmed "a link to the socket of root's mount" link

# A socket that is named is asked, and gets no file.
same "$liar" "$(pids_at "$theirs/$liar.sock")" "a socket that was named"
refused "the mount is not that of the process's user" ctl capture on "$work/named.pcapng" "$theirs/$liar.sock"
! grep 'files [1-9]' ./*.said || fail "a file of root went to a socket that was named"
for each in "${programs[@]}"; do stop "$each"; done
programs=()
rm -f "$theirs"/1.sock "$theirs/$liar.sock"

# Two of one user for one mount: it has to be said which.
start twice liar "$work/twice.said" "mount_point $work/other"
refused "there are several: name the process (" ctl state "$work/other"
for process in "$mount_of_other" "$started"; do same "$process" "$(pids_at "$process")" "one of two that was named"; done
stop "$started"
programs=()
rm -f "$theirs/$started.sock"

# Six that say nothing are waited for together.
start silent silent 6 "$work/silent.said"
same "$both" "$(pids_at)" "mounts beside silent ones"
same 6 "$(grep -c "wait for the daemon's answer" said.err)" "silent ones that are named"
same "askers 6" "$(tail -n 1 silent.said)" "silent ones that were asked at once"
same "$mount_of_root" "$(pids_at "$mnt")" "root's mount beside silent ones"

umount "$work/other"
ending=$mount_of_other
mount_of_other=
wait "$ending" || fail "the other user's mount ends with $?: $(cat mount_other.log)"
