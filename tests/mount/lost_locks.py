"""What a process does under its own lock on a server whose locks are mandatory, and what it hears
when the server takes the lock away. Usage: lost_locks.py MOUNT SECOND_MOUNT REVOKE...
REVOKE is the command that has the server revoke all locks."""
import errno
import fcntl
import mmap
import os
import subprocess
import sys

PATH, OTHER, REVOKE = sys.argv[1] + "/file", sys.argv[2] + "/file", sys.argv[3:]
BLOCK = 4096


def same(wanted, got, what):
    if wanted != got:
        sys.exit(f"{what}: {got!r} instead of {wanted!r}")


def outcome(action, *arguments):
    """0, or the errno that it failed with."""
    try:
        action(*arguments)
    except OSError as error:
        return error.errno
    return 0


def name(number):
    return errno.errorcode.get(number, number)


def write_under_own_lock(flags, what):
    fd = os.open(PATH, os.O_RDWR | flags)
    fcntl.lockf(fd, fcntl.LOCK_EX, BLOCK, 0)
    block = mmap.mmap(-1, BLOCK)  # aligned, as O_DIRECT wants it
    block.write(what[:1].encode() * BLOCK)
    same(0, name(outcome(os.pwrite, fd, block, 0)), f"{what}: a write under the own lock")
    same(0, name(outcome(os.fsync, fd)), f"{what}: fsync under the own lock")
    same(0, name(outcome(os.preadv, fd, [block], 0)), f"{what}: a read under the own lock")
    same(0, name(outcome(os.ftruncate, fd, 2 * BLOCK)), f"{what}: a change of the size")
    other = os.open(OTHER, os.O_RDWR | os.O_DIRECT)
    same(errno.EAGAIN, outcome(os.pwrite, other, block, 0), f"{what}: another client's write")
    os.close(other)
    os.close(fd)


def second_descriptor():
    """An fcntl lock is the process's, whichever descriptor it writes by."""
    locked, writes = os.open(PATH, os.O_RDWR), os.open(PATH, os.O_RDWR)
    fcntl.lockf(locked, fcntl.LOCK_EX, BLOCK, 0)
    same(0, name(outcome(os.pwrite, writes, b"second", 0)), "a write by a second descriptor")
    same(0, name(outcome(os.fsync, writes)), "fsync of the second descriptor")
    os.close(writes)
    os.close(locked)


def description():
    """flock and open file description locks are the open file's."""
    fd = os.open(PATH, os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    same(0, name(outcome(os.pwrite, fd, b"flock", 0)), "a write under flock")
    same(0, name(outcome(os.fsync, fd)), "fsync under flock")
    os.close(fd)


def mapped():
    fd = os.open(PATH, os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX, BLOCK, 0)
    with mmap.mmap(fd, BLOCK) as pages:
        pages[0:6] = b"mapped"
        same(0, name(outcome(pages.flush)), "msync under the own lock")
    os.close(fd)


def revoke():
    subprocess.run(REVOKE, check=True, stdout=subprocess.DEVNULL)


def lost():
    fd = os.open(PATH, os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX, BLOCK, 0)
    same(BLOCK, os.pwrite(fd, b"k" * BLOCK, 0), "written before")
    os.fsync(fd)
    revoke()
    taker = os.open(OTHER, os.O_RDWR)
    fcntl.lockf(taker, fcntl.LOCK_EX | fcntl.LOCK_NB, BLOCK, 0)
    same(BLOCK, os.pwrite(taker, b"t" * BLOCK, 0), "written by who has the lock now")
    os.fsync(taker)
    failures = [name(outcome(os.pwrite, fd, b"lost", 0)), name(outcome(os.fsync, fd))]
    if failures[1] != "EIO":
        sys.exit(f"write and fsync under a lock that is lost: {failures}")
    same("EIO", name(outcome(os.pwrite, fd, b"lost", 0)), "once it is known, a write")
    child = os.fork()
    if child == 0:
        theirs = os.open(PATH, os.O_RDWR)
        os._exit(outcome(os.pwrite, theirs, b"fine", 3 * BLOCK) or outcome(os.fsync, theirs))
    same(0, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), "another process's write")
    same(b"t" * BLOCK, os.pread(taker, BLOCK, 0), "the block of who has the lock")
    fcntl.lockf(taker, fcntl.LOCK_UN, BLOCK, 0)
    os.close(taker)
    fcntl.lockf(fd, fcntl.LOCK_UN, BLOCK, 0)
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, BLOCK, 0)
    same(6, os.pwrite(fd, b"regain", 0), "written under the lock that was taken again")
    same(0, name(outcome(os.fsync, fd)), "fsync under it")
    same(b"regain", os.pread(fd, 6, 0), "read under it")
    os.close(fd)


def lost_and_closed():
    """Who writes no more hears of it at close(2) at the latest."""
    fd = os.open(PATH, os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX, BLOCK, 0)
    revoke()
    for _ in range(1000):
        os.statvfs(sys.argv[1])  # a request, whose answer says that there is something revoked
        if outcome(os.fsync, fd) == errno.EIO:
            break
    same("EIO", name(outcome(os.close, fd)), "close under a lock that is lost")


def lost_and_read():
    """What was written and has not been sent is missing at the server: no end of file."""
    fd = os.open(sys.argv[1] + "/unsent", os.O_CREAT | os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX, BLOCK, 0)
    same(6, os.pwrite(fd, b"unsent", 0), "written before")
    revoke()
    same("EIO", name(outcome(os.pread, fd, BLOCK, 0)), "a read under a lock that is lost")
    same("EIO", name(outcome(os.pread, fd, BLOCK, 0)), "a read once it is known")
    same("EIO", name(outcome(os.close, fd)), "close of what was read")


write_under_own_lock(0, "buffered")
write_under_own_lock(os.O_DIRECT, "direct")
second_descriptor()
description()
mapped()
lost()
lost_and_closed()
lost_and_read()
