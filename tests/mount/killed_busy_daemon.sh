#!/usr/bin/env bash
# The daemon is killed at work, while the kernel waits for it to answer and threads of it wait in the kernel: for pages that a
# READ holds, which the server answers late, and for directories. Every program gets an error and ends, the daemon
# is gone, and its mount point can be had back.
#
# Environment: NFSRDMA_ROUNDS   how often (default 3)
#              NFSRDMA_FUSECTL  yes, no: with or without /sys/fs/fuse/connections, in a mount namespace of its own
#              NFSRDMA_SIGNAL   by which it dies (default KILL)
: "${NFSRDMA_ROUNDS:=3}" "${NFSRDMA_SIGNAL:=KILL}"
if [ -n "${NFSRDMA_FUSECTL:-}" ] && [ "$(id -u)" -eq 0 ]; then
  [ -n "${NFSRDMA_NAMESPACE:-}" ] || NFSRDMA_NAMESPACE=1 exec unshare -m --propagation private bash "$0"
  connections=/sys/fs/fuse/connections
  while mountpoint -q $connections; do umount $connections; done
  if [ "$NFSRDMA_FUSECTL" = yes ]; then
    mount -t fusectl fusectl $connections || { echo "SKIPPED: no fusectl"; exit 77; }
  fi
fi
. "$(dirname "$0")/lib.sh"
ulimit -c "${NFSRDMA_CORE:-0}" || true
start_responder
head -c 4M /dev/urandom >"$export/file"
mkdir "$export/directory"
touch "$export/directory/name"
control fault delay=20:op=READ >/dev/null

# reader SEED: reads pieces of the file through the page cache, and drops them. opener: opens it again and again.
# namer: looks names up and makes some. They end with the first error, and print it.
cat >"$work/user.py" <<'P'
import os, random, sys
what, mount, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance = random.Random(seed)
name = f"{mount}/file"
done = 0
try:
    file = os.open(name, os.O_RDONLY)
    print("open", flush=True)
    while True:
        if what == "reader":
            at = chance.randrange(1024) * 4096
            os.posix_fadvise(file, at, 65536, os.POSIX_FADV_DONTNEED)
            os.pread(file, 65536, at)
        elif what == "opener":
            os.close(os.open(name, os.O_RDONLY))
        else:
            new = f"{mount}/directory/{chance.randrange(8)}"
            os.close(os.open(new, os.O_CREAT | os.O_RDONLY))
            os.listdir(f"{mount}/directory")
            os.unlink(new)
except OSError as error:
    print(f"ended: {error}", flush=True)
P

# touched: another client writes the file, and names of the directory, as long as $work/touch is there.
touched() {
  while [ -e "$work/touch" ]; do
    touch "$export/file" "$export/directory"
    sleep 0.01
  done
}

# state PID: its letter, of all its threads D wins; nothing when it is gone.
state() {
  local states
  states=$(sed 's/.*) \(.\).*/\1/' "/proc/$1"/task/*/stat 2>/dev/null || true)
  case $states in
    *D*) echo D ;;
    *[RSTt]*) echo S ;;
  esac
}
has_ended() { [ -z "$(state "$1")" ]; }

# expect_ended PID WHAT
expect_ended() {
  for _ in $(seq $patience); do
    if has_ended "$1"; then return 0; fi
    sleep $between_looks
  done
  local where
  where=$(grep -h State "/proc/$1"/task/*/status; cat "/proc/$1"/task/*/wchan)
  rm -f "$work/touch"
  umount -f "$mnt" 2>/dev/null || true  # lets them go where root runs this
  umount -l "$mnt" 2>/dev/null || true
  fail "round $round: $2 does not end: $where"
}

is_dead() { [ "$(errno_of "os.statvfs('$mnt')")" = ENOTCONN ]; }
read_enough() { [ "$(server_counter op_READ)" -ge "$1" ]; }

for round in $(seq "$NFSRDMA_ROUNDS"); do
  mount_export
  i=$((${#mount_pids[@]} - 1))
  daemon=${mount_pids[i]}
  guard=$(cat "/proc/$daemon/task/$daemon/children" 2>/dev/null || true)
  : >"$work/touch"
  touched &
  toucher=$!
  users=()
  for user in "reader 1" "reader 2" "opener 3" "namer 4"; do
    # shellcheck disable=SC2086
    set -- $user
    python3 "$work/user.py" "$1" "$mnt" "$((round * 10 + $2))" >"$work/$1.$2.said" 2>&1 &
    users+=($!)
  done
  for user in reader.1 reader.2 opener.3 namer.4; do wait_for "$user" grep -q open "$work/$user.said"; done
  wait_for "reads" read_enough $(($(server_counter op_READ) + 10 + RANDOM % 20))
  kill "-$NFSRDMA_SIGNAL" "$daemon"
  mount_pids[i]=
  expect_ended "$daemon" "the daemon"
  wait "$daemon" 2>/dev/null || true
  for user in "${users[@]}"; do expect_ended "$user" "a program that uses the mount"; done
  for user in reader.1 reader.2 opener.3 namer.4; do
    wait_for "the error of $user" grep -q ended "$work/$user.said"
  done
  for one in $guard; do expect_ended "$one" "the daemon's other process"; done
  rm "$work/touch"
  wait $toucher "${users[@]}" || true
  wait_for "the dead mount" is_dead
  fusermount3 -u "$mnt"
done
