# Sourced on top of tests/mount/lib.sh, by the tests of locks on real servers. Gives:
#
#   lock_stateids_named   on a mount that is captured, READ, WRITE and the change of the size under a
#                         lock name the lock's stateid (RFC 8881 section 8.2.5), and without one the open's

# The stateids (without seqid) of the frames with this opcode that are calls (0) or replies (1).
stateids_of() {
  tshark -n -r "$work/locked.pcapng" -Y "rpc.msgtyp == $2 && nfs.opcode == $1" -T fields -e nfs.stateid.other 2>/dev/null |
    tr ',' '\n' | sort -u | paste -sd' '
}

lock_stateids_named() {
  command -v tshark >/dev/null || skip "no tshark: tests/install-packages test"
  local at=$work/captured i=${#mount_points[@]} lock open
  mount_export "capture=$work/locked.pcapng,noac" "$at"  # under a delegation for writing a lock does not concern the server
  timeout 60 python3 - "$at/named" <<'PY' || fail "see above"
import fcntl, mmap, os, sys
block = mmap.mmap(-1, 4096)
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o666)
fcntl.lockf(fd, fcntl.LOCK_EX, 8192, 0)
os.pwrite(fd, block, 0)
os.preadv(fd, [block], 0)
os.ftruncate(fd, 8192)
os.close(fd)
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.lockf(fd, fcntl.LOCK_EX, 8192, 0)
os.pwrite(fd, b"buffered", 0)
os.fsync(fd)
os.close(fd)
PY
  end_mount "$i"
  lock=$(stateids_of 12 1)  # LOCK
  [ -n "$lock" ] || fail "no LOCK in the capture"
  for operation in 38 34; do  # WRITE, SETATTR
    for open in $(stateids_of $operation 0); do
      grep -qw "$open" <<<"$lock" || fail "operation $operation named $open, which is none of the locks $lock"
    done
  done
  grep -qw "$(stateids_of 25 0)" <<<"$lock" || fail "READ named $(stateids_of 25 0), which is none of the locks $lock"
}
