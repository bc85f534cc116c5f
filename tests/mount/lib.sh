# Shared by the scripts of this folder, each of which is one test: source it first.
#
# Environment: NFSRDMA_BIN   folder of nfsrdma and nfsrdma-responder (default: build/release/bin)
#              NFSRDMA_USER  not empty: run as an ordinary user without capabilities
#              NFSRDMA_PROTO rdma (default) or tcp
#              NFSRDMA_RESPONDER_OPTIONS  for every responder that is started, separated by blanks
#              NFSRDMA_MOUNT_OPTIONS      for every mount, separated by commas
#              NFSRDMA_CAPTURES           a folder: every mount is captured there (captures_lib.sh), and what the script captures
#                                         itself is kept there; absolute, and open to the users that mount
#              NFSRDMA_CAPTURE_VIEW       of those captures: rpc (default), wire, roce
# Exit status: 0 passed, 77 cannot run here, other failed. Output of a failed run has all logs.
#
# Gives: $work (private, removed at the end), $export (what is served), $mnt (first mount point);
# start_responder, mount_export, unmount_export, control, counter, server_counter, served, wait_for, fail, skip, same,
# refused, errno_of. Python programs import control (control.py).
# $program is nfsrdma itself: in NFSRDMA_BIN something else may stand in its place.
# Where set, $exported is what is mounted instead of /, $standing are options of every mount, as_user is the command that
# the responder is started through, and $at_rdma_port and $at_tcp_port are where it listens. With $own_sockets
# a script that runs as an ordinary user sees no mounts of other tests. With $counts_caches=yes a script that counts what the
# kernel answers from its caches is skipped, not failed, where something else on the machine has dropped them meanwhile
# (vm.drop_caches); a script that drops them itself must not set it.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
: "${NFSRDMA_BIN:=$here/../../build/release/bin}"
: "${NFSRDMA_PROTO:=rdma}"
ordinary_user=65534
patience=1200  # times to look for anything that is to happen
between_looks=0.025  # seconds

fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }

[ -c /dev/fuse ] || skip "no /dev/fuse"
[ -x "$NFSRDMA_BIN/nfsrdma" ] || skip "no $NFSRDMA_BIN/nfsrdma"
NFSRDMA_BIN=$(cd "$NFSRDMA_BIN" && pwd)
program=$NFSRDMA_BIN/nfsrdma
if [ -n "${NFSRDMA_CAPTURES:-}" ]; then . "$here/captures_lib.sh"; fi

# hide_sockets_of_user: the directory of control sockets of the ordinary user that mounts in other tests becomes this mount
# namespace's own; hide_other_sockets: root's, too.
hide_sockets_of_user() {
  local theirs=/tmp/nfsrdma-$ordinary_user
  install -d -m 700 -o $ordinary_user -g $ordinary_user "$theirs"  # as the program makes it
  mount -t tmpfs -o "mode=700,uid=$ordinary_user,gid=$ordinary_user" sockets "$theirs"
}
hide_other_sockets() {
  mount -t tmpfs run /run
  hide_sockets_of_user
}

# In a mount namespace of its own (NFSRDMA_NAMESPACE) a test has copies of the mounts of all others: they would keep those
# from ending.
leave_mounts_of_others() {
  local at
  while read -r at; do umount -l "$at"; done < <(findmnt -rno TARGET -t fuse.nfsrdma || true)
}
if [ -n "${NFSRDMA_NAMESPACE:-}" ] && [ "$(id -u)" -eq 0 ]; then leave_mounts_of_others; fi

# As an ordinary user: the script starts again, with copies of the programs that user can reach.
if [ -n "${NFSRDMA_USER:-}" ] && [ "$(id -u)" -eq 0 ]; then
  [ "$(stat -c %a /dev/fuse)" = 666 ] || skip "/dev/fuse is not open to ordinary users"
  if [ -n "${own_sockets:-}" ]; then
    # In a mount namespace: nfsrdmactl finds all mounts of its user, and other tests have some.
    [ -n "${NFSRDMA_NAMESPACE:-}" ] ||
      NFSRDMA_NAMESPACE=1 exec unshare -m --propagation private bash "$here/$(basename "$0")"
    hide_sockets_of_user
  fi
  programs=$(mktemp -d -t nfsrdma-programs-XXXXXX)
  trap 'rm -rf "$programs"' EXIT
  chmod 755 "$programs"
  cp "$NFSRDMA_BIN/nfsrdma" "$NFSRDMA_BIN/nfsrdma-responder" "$here"/*.sh "$here"/*.py "$programs"
  if [ -x "$NFSRDMA_BIN/nfsrdmactl" ]; then cp "$NFSRDMA_BIN/nfsrdmactl" "$programs"; fi
  status=0
  NFSRDMA_BIN=$programs setpriv --reuid $ordinary_user --regid $ordinary_user --clear-groups \
    --inh-caps=-all bash "$programs/$(basename "$0")" || status=$?
  exit $status
fi

# With io_uring=auto among NFSRDMA_MOUNT_OPTIONS: FUSE over io_uring is switched on as long as a test needs it. Tests
# that run side by side share the switch: the last one puts back what was found.
uring_switch=/sys/module/fuse/parameters/enable_uring
uring_lock=
offer_io_uring() {
  [ -e $uring_switch ] || skip "the kernel has no FUSE over io_uring (Linux 6.14)"
  local forbidden
  forbidden=$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null || echo 0)
  [ "$forbidden" -eq 0 ] || [ "$forbidden" -eq 1 -a "$(id -u)" -eq 0 ] || skip "kernel.io_uring_disabled is $forbidden"
  if [ "$(id -u)" -ne 0 ]; then
    [ "$(cat $uring_switch)" = Y ] || skip "fuse.enable_uring is off, and only root may switch it on"
    return 0
  fi
  exec {uring_lock}<>/tmp/nfsrdma-test-io-uring.lock
  flock -s "$uring_lock"
  [ "$(cat $uring_switch)" = Y ] || { echo N >&"$uring_lock"; echo Y >$uring_switch; }
}
# Unlocked for whatever has inherited the descriptor, too.
withdraw_io_uring() {
  if [ -z "$uring_lock" ]; then return 0; fi
  flock -u "$uring_lock"
  flock -nx "$uring_lock" || return 0
  if [ -s /tmp/nfsrdma-test-io-uring.lock ]; then
    echo N >$uring_switch
    : >/tmp/nfsrdma-test-io-uring.lock
  fi
  exec {uring_lock}>&-
}
case ,${NFSRDMA_MOUNT_OPTIONS:-}, in
  *,io_uring=auto,*)
    offer_io_uring
    trap withdraw_io_uring EXIT
    ;;
esac

work=$(mktemp -d -t nfsrdma-mount-XXXXXX)
export=$work/export
mnt=$work/mnt
mkdir "$export" "$mnt"
cd "$work"
if [ -n "${NFSRDMA_CAPTURES:-}" ]; then capture_mounts; fi
# How often the kernel was told to drop its caches, of pages and of names.
drops() { sed -n 's/^drop_\(pagecache\|slab\) //p' "${vmstat:-/proc/vmstat}" | paste -sd' ' || true; }
drops_before=$(drops)
declare -a mount_points=() mount_pids=()
responder_pid=

# The last lines tell what happened: logs are shown only when something went wrong.
show_logs() {
  for log in "$work"/*.log; do
    [ -s "$log" ] || continue
    echo "--- $(basename "$log")" >&2
    tail -n 40 "$log" >&2
  done
}

# clean_up [STATUS]: what the script ends with, and nothing stays behind.
clean_up() {
  local status=${1:-$?}
  trap - EXIT INT TERM
  cd /
  if [ -n "${counts_caches:-}" ] && [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && [ "$(drops)" != "$drops_before" ]; then
    echo "DISTURBED: something else has dropped the kernel's caches meanwhile; this failure says nothing of the programs"
    status=77
  fi
  end_mounts || status=1
  if [ -n "$responder_pid" ] && kill -0 "$responder_pid" 2>/dev/null; then
    kill "$responder_pid"
    wait "$responder_pid" || { echo "the responder failed" >&2; status=1; }
  fi
  if grep -qE 'Sanitizer:|runtime error:|Assertion .* failed' "$work"/*.log 2>/dev/null; then
    echo "a program reported a defect" >&2
    status=1
  fi
  [ $status -eq 0 ] || [ $status -eq 77 ] || show_logs
  if [ -n "${NFSRDMA_CAPTURES:-}" ]; then keep_captures; fi
  rm -rf --one-file-system "$work"
  withdraw_io_uring
  exit $status
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# wait_for "what" command...: until the command succeeds.
wait_for() {
  local what=$1
  shift
  for _ in $(seq $patience); do
    if "$@" 2>/dev/null; then return 0; fi
    sleep $between_looks
  done
  fail "waited in vain for $what"
}

# start_responder [option...]: serves $export; sets $rdma_port, $tcp_port, and $port, which is the one to mount.
as_user=()
start_responder() {
  : >"$work/responder.out"  # of one before: its ports must not be taken for the new one's
  # shellcheck disable=SC2086
  "${as_user[@]}" "$NFSRDMA_BIN/nfsrdma-responder" --export "$export" \
    --port "${at_rdma_port:-0}" --tcp-port "${at_tcp_port:-0}" --control "$work/control" --not-durable \
    --stats "$work/responder.stats" ${NFSRDMA_RESPONDER_OPTIONS:-} "$@" >"$work/responder.out" 2>"$work/responder.log" &
  responder_pid=$!
  wait_for "the responder" grep -q '^listening on' "$work/responder.out"
  rdma_port=$(port_of "listening on")
  tcp_port=$(port_of "serving TCP on")
  port=$rdma_port
  if [ "$NFSRDMA_PROTO" = tcp ]; then port=$tcp_port; fi
}

port_of() { sed -n "s/^$1 .*:\([0-9]*\)\$/\1/p" "$work/responder.out" | head -n 1; }

# mount_export [options [mount point]]: mounts the whole export, ready for use on return.
mount_export() {
  local options=${NFSRDMA_MOUNT_OPTIONS:-}${1:+,$1} at=${2:-$mnt} i=${#mount_points[@]}
  options=${options#,}
  mkdir -p "$at"
  "$NFSRDMA_BIN/nfsrdma" -f -o "proto=$NFSRDMA_PROTO,port=$port,stats=$work/mount$i.stats${standing:+,$standing}${options:+,$options}" \
    "127.0.0.1:${exported:-/}" "$at" >"$work/mount$i.log" 2>&1 &
  mount_pids[i]=$!
  mount_points[i]=$at
  for _ in $(seq $patience); do
    if mountpoint -q "$at"; then return 0; fi
    kill -0 "${mount_pids[i]}" 2>/dev/null || fail "nfsrdma ended: $(tail -n 1 "$work/mount$i.log")"
    sleep $between_looks
  done
  fail "no mount"
}

# end_mount i: unmounts, and expects the daemon to end well with every request answered.
end_mount() {
  local at=${mount_points[$1]} pid=${mount_pids[$1]} ended=no
  if [ -z "$pid" ]; then return 0; fi
  mount_pids[$1]=
  # A daemon that died leaves a dead mount behind.
  kill -0 "$pid" 2>/dev/null || fusermount3 -uz "$at" 2>/dev/null || true
  if kill -0 "$pid" 2>/dev/null && mountpoint -q "$at" && ! fusermount3 -u "$at"; then
    fusermount3 -uz "$at" || true
    kill "$pid" || true
    wait "$pid" || true
    echo "$at could not be unmounted" >&2
    return 1
  fi
  for _ in $(seq $patience); do
    kill -0 "$pid" 2>/dev/null || { ended=yes; break; }
    sleep $between_looks
  done
  if [ $ended = no ]; then
    echo "nfsrdma does not end" >&2
    kill -KILL "$pid" || true
    wait "$pid" 2>/dev/null || true
    return 1
  fi
  wait "$pid" || { echo "nfsrdma ended with status $?" >&2; return 1; }
  local unanswered
  unanswered=$(sed -n 's/^fuse_unanswered //p' "$work/mount$1.stats")
  [ "${unanswered:-0}" = 0 ] || { echo "$unanswered requests went unanswered" >&2; return 1; }
  if [[ ,${NFSRDMA_MOUNT_OPTIONS:-}, == *,io_uring=auto,* ]] && ! grep -q '^fuse_ring_requests [1-9]' "$work/mount$1.stats"; then
    echo "no request came over io_uring" >&2
    return 1
  fi
}

# end_mounts: each mount that is left, also when one did not end well.
end_mounts() {
  local failed=0
  for i in "${!mount_points[@]}"; do
    end_mount "$i" || failed=1
  done
  return $failed
}

# unmount_export [mount point]
unmount_export() {
  local at=${1:-$mnt}
  for i in "${!mount_points[@]}"; do
    if [ "${mount_points[$i]}" = "$at" ]; then end_mount "$i" || fail "unmount"; fi
  done
}

# control command...: one line to the responder's control socket; prints the answer.
control() { python3 "$here/control.py" "$work/control" "$@"; }

# server_counter NAME: of the responder, as of now; one that it does not have is 0.
server_counter() {
  local value
  value=$(control stats | sed -n "s/^$1 //p")
  echo "${value:-0}"
}

# served OPERATION: how many calls with it the responder has had.
served() { server_counter "op_$1"; }

# counter name [mount number]: a counter of a mount, as of now; one that is not written is 0.
counter() {
  local file=$work/mount${2:-0}.stats value
  rm -f "$file"
  kill -USR1 "${mount_pids[${2:-0}]}"
  wait_for "counters" grep -q '^fs_inodes ' "$file"
  value=$(sed -n "s/^$1 //p" "$file")
  echo "${value:-0}"
}

# counter_at_end name [mount number]: the same of a mount that has ended.
counter_at_end() {
  local value
  value=$(sed -n "s/^$1 //p" "$work/mount${2:-0}.stats")
  echo "${value:-0}"
}

# same expected actual what
same() { [ "$1" = "$2" ] || fail "$3: expected '$1', found '$2'"; }

# refused "message" command...: the command fails, and says so.
refused() {
  local message=$1 output
  shift
  if output=$("$@" 2>&1); then fail "$* succeeded"; fi
  case $output in *"$message"*) ;; *) fail "$*: expected '$message', found '$output'" ;; esac
}

# errno_of 'python expression': the errno name it raises, or ok. os, fcntl, mmap are there.
errno_of() {
  python3 - "$1" <<'PY'
import ctypes, errno, fcntl, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
try:
    if eval(sys.argv[1]) == -1:
        raise OSError(ctypes.get_errno(), "")
    print("ok")
except OSError as e:
    print(errno.errorcode[e.errno])
PY
}
