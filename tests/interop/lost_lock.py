"""A lock whose holder the server has expired meanwhile, because its client was stopped. Its holder gets
EIO and never a success; who has the lock now keeps what it wrote; the old holder can lock again.
Usage: lost_lock.py MOUNT SECOND_MOUNT PID [COMMAND...]
PID is the first mount's daemon; COMMAND has the server expire its client, which it does by itself
otherwise, when the lease has run out."""
import errno
import fcntl
import os
import signal
import subprocess
import sys

PATH, OTHER = sys.argv[1] + "/taken", sys.argv[2] + "/taken"
DAEMON, EXPIRE = int(sys.argv[3]), sys.argv[4:]
LENGTH = 4096
PATIENCE = 100  # seconds


def same(wanted, got, what):
    if wanted != got:
        sys.exit(f"{what}: {got!r} instead of {wanted!r}")


def outcome(action, *arguments):
    """The name of the error that it failed with, or what it returned."""
    try:
        return action(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]


signal.alarm(PATIENCE)
# Started now: to close what it inherits a new process would need the daemon, which is stopped by then.
expiring = subprocess.Popen(["sh", "-c", 'read -r _ && exec "$@"', "sh", *(EXPIRE or ["true"])],
                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
holder = os.open(PATH, os.O_RDWR | os.O_CREAT, 0o666)
fcntl.lockf(holder, fcntl.LOCK_EX, LENGTH, 0)
same(LENGTH, os.pwrite(holder, b"h" * LENGTH, 0), "written by the holder")
os.fsync(holder)

taker = os.open(OTHER, os.O_RDWR)
os.kill(DAEMON, signal.SIGSTOP)
try:
    expiring.communicate(b"now\n")
    same(0, expiring.returncode, "having the server expire the client")
    fcntl.lockf(taker, fcntl.LOCK_EX, LENGTH, 0)
    same(LENGTH, os.pwrite(taker, b"t" * LENGTH, 0), "written by the next holder")
    os.fsync(taker)
finally:
    os.kill(DAEMON, signal.SIGCONT)

written = outcome(os.pwrite, holder, b"lost", 0)
if written not in (4, "EIO"):
    sys.exit(f"a write under the lost lock: {written}")
same("EIO", outcome(os.fsync, holder), "fsync under the lost lock")
same("EIO", outcome(os.pwrite, holder, b"lost", 0), "once it is known, a write")
same(b"t" * LENGTH, os.pread(taker, LENGTH, 0), "what the next holder wrote")
fcntl.lockf(taker, fcntl.LOCK_UN, LENGTH, 0)
os.close(taker)

fcntl.lockf(holder, fcntl.LOCK_UN, LENGTH, 0)
fcntl.lockf(holder, fcntl.LOCK_EX, LENGTH, 0)
same(b"t" * LENGTH, os.pread(holder, LENGTH, 0), "read under the lock that was taken again")
same(6, os.pwrite(holder, b"regain", 0), "written under it")
same(None, outcome(os.fsync, holder), "fsync under it")
os.close(holder)
