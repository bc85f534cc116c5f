#!/usr/bin/env bash
# flock(2) and fcntl(2) locks are of one kind at the server: they exclude each other, and an exclusive one needs a file
# that is open for writing. A deadlock is told. With local_lock= locks stay on this machine.
. "$(dirname "$0")/lib.sh"
start_responder
echo data >"$export/file"

# between FIRST SECOND: what another open file gets while the first one has an exclusive lock.
between() {
  errno_of "(lambda a, b: (fcntl.$1(a, fcntl.LOCK_EX | fcntl.LOCK_NB), fcntl.$2(b, fcntl.LOCK_EX | fcntl.LOCK_NB)))(
    os.open('$3/file', os.O_RDWR), os.open('$4/file', os.O_RDWR))"
}
second=$work/second
mount_export
mount_export "" "$second"
same EAGAIN "$(between flock lockf "$mnt" "$mnt")" "fcntl beside flock"
same EAGAIN "$(between lockf flock "$mnt" "$mnt")" "flock beside fcntl of the same process"
same EAGAIN "$(between flock lockf "$mnt" "$second")" "fcntl of another client beside flock"
same EBADF "$(errno_of "fcntl.flock(os.open('$mnt/file', os.O_RDONLY), fcntl.LOCK_EX)")" "an exclusive flock of a reader"
same EBADF "$(errno_of "fcntl.flock(os.open('$mnt/file', os.O_WRONLY), fcntl.LOCK_SH)")" "a shared flock of a writer"

# FUSE has no request for the flock of a directory, and none for leases: both hold on one mount, as the page says.
mkdir "$mnt/directory"
same ok "$(errno_of "(lambda a, b: (fcntl.flock(a, fcntl.LOCK_EX | fcntl.LOCK_NB), fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)))(
  os.open('$mnt/directory', os.O_RDONLY), os.open('$second/directory', os.O_RDONLY))")" "flock of a directory on two clients"
same EAGAIN "$(errno_of "(lambda a, b: (fcntl.flock(a, fcntl.LOCK_EX | fcntl.LOCK_NB), fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)))(
  os.open('$mnt/directory', os.O_RDONLY), os.open('$mnt/directory', os.O_RDONLY))")" "flock of a directory on one client"
same True "$(python3 - "$mnt/file" "$second/file" <<'PY'
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, lambda *_: sys.exit("broken"))
leased = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(leased, fcntl.F_SETLEASE, fcntl.F_RDLCK)
with open(sys.argv[2], "r+b") as other:
    other.write(b"d")
print(fcntl.fcntl(leased, fcntl.F_GETLEASE) == fcntl.F_RDLCK)
PY
)" "a lease beside another client's open"

# A process of each mount has a lock and waits for the other's.
timeout 60 python3 - "$mnt/file" "$second/file" <<'PY' || fail "no deadlock was told"
import errno, fcntl, os, sys
ready = os.pipe()
def second_waits():
    other = os.open(sys.argv[2], os.O_RDWR)
    fcntl.lockf(other, fcntl.LOCK_EX, 1, 1)
    os.write(ready[1], b"x")
    try:
        fcntl.lockf(other, fcntl.LOCK_EX, 1, 0)
    except OSError as error:
        return error.errno
    return 0
mine = os.open(sys.argv[1], os.O_RDWR)
fcntl.lockf(mine, fcntl.LOCK_EX, 1, 0)
child = os.fork()
if child == 0:
    os._exit(second_waits())
os.read(ready[0], 1)
found = 0
try:
    fcntl.lockf(mine, fcntl.LOCK_EX, 1, 1)
except OSError as error:
    found = error.errno
os.close(mine)
theirs = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
if sorted((found, theirs)) != [0, errno.EDEADLK]:
    sys.exit(f"{found} and {theirs}")
PY
unmount_export "$second"

mount_export local_lock=all "$work/local"
mount_export local_lock=flock "$work/flock"
before=$(served LOCK)
same ok "$(between lockf lockf "$work/local" "$mnt")" "fcntl locks with local_lock=all, and of another mount"
same ok "$(between flock flock "$work/flock" "$mnt")" "flock locks with local_lock=flock, and of another mount"
same 2 $(($(served LOCK) - before)) "locks that the server has heard of"
same EAGAIN "$(between lockf lockf "$work/flock" "$mnt")" "fcntl locks with local_lock=flock, and of another mount"
same EAGAIN "$(between flock flock "$work/local" "$work/local")" "flock locks of one mount with local_lock=all"
