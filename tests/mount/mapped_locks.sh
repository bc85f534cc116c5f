#!/usr/bin/env bash
# Stores to a shared mapping are at the server when a lock is given back or made weaker, before a lock is granted, before times
# and modes are set, and under a new name: mapped_locks.py says how. Files that nobody has mapped pay nothing for that, keep
# their pages, and leave the mount free when they are closed.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
mount_export "" "$work/other"
timeout 300 python3 "$here/mapped_locks.py" "$mnt" "$work/other" "$export" "$work/control" || fail "see above"

# requests: of the kernel to the first mount, as of now.
requests() {
  counter fs_inodes >/dev/null
  awk '/^fuse_requests_/ { n += $2 } END { print n + 0 }' "$work/mount0.stats"
}
head -c 100000 /dev/zero >"$mnt/plain"
cat >"$work/locker.py" <<'P'
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.read(fd, 100000)
fcntl.lockf(fd, fcntl.LOCK_EX)
fcntl.lockf(fd, fcntl.LOCK_UN)
for line in sys.stdin:
    for _ in range(int(line)):
        fcntl.lockf(fd, fcntl.LOCK_EX)
        os.pread(fd, 100000, 0)
        fcntl.lockf(fd, fcntl.LOCK_UN)
    print("done", flush=True)
P
coproc LOCKER { python3 "$work/locker.py" "$mnt/plain"; }
rounds() { echo "$1" >&"${LOCKER[1]}"; read -r -u "${LOCKER[0]}" _; }
rounds 1
reads=$(served READ) before=$(requests)
rounds 20
# Each round is SETLK twice. What else comes meanwhile is little.
asked=$(($(requests) - before))
[ $asked -ge 40 ] && [ $asked -lt 60 ] || fail "20 times a lock and an unlock were $asked requests of the kernel"
same "$reads" "$(served READ)" "READs after locks whose file nobody has changed"
locker=$LOCKER_PID
eval "exec ${LOCKER[1]}>&-"
wait "$locker"

# The descriptor that the daemon had on its own mount does not keep it busy.
unmount_export "$work/other"
for _ in $(seq 10); do
  python3 -c '
import fcntl, mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
page = mmap.mmap(fd, 4096)
fcntl.lockf(fd, fcntl.LOCK_EX)
page[0:4] = b"AAAA"
fcntl.lockf(fd, fcntl.LOCK_UN)
' "$mnt/plain"
  unmount_export
  mount_export
done
