"""Locks between two mounts of one export, that is two clients: locks_of_two_clients.py DIR DIR."""
import ctypes, errno, fcntl, os, signal, struct, sys, time

first, second = sys.argv[1:3]
def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)

def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        return error.errno in (errno.EAGAIN, errno.EACCES)
    return False

def child(work):
    pid = os.fork()
    if pid == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        try:
            os._exit(work() or 0)
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(99)
    return pid

def ended_well(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

NOW = fcntl.LOCK_NB
open(first + "/counter", "w").write("0\n")
a = open(first + "/file", "w+")
b = open(second + "/file", "r+")

# Byte ranges: exclusive and shared, split and joined.
fcntl.lockf(a, fcntl.LOCK_EX | NOW, 10, 0)
check(refused(fcntl.lockf, b, fcntl.LOCK_EX | NOW, 1, 9), "an overlapping lock was granted")
fcntl.lockf(b, fcntl.LOCK_EX | NOW, 10, 10)
fcntl.lockf(a, fcntl.LOCK_UN, 4, 3)
fcntl.lockf(b, fcntl.LOCK_SH | NOW, 4, 3)
check(refused(fcntl.lockf, b, fcntl.LOCK_SH | NOW, 1, 2), "the part before a hole was lost")
check(refused(fcntl.lockf, b, fcntl.LOCK_SH | NOW, 1, 7), "the part behind a hole was lost")
fcntl.lockf(b, fcntl.LOCK_UN)
fcntl.lockf(a, fcntl.LOCK_SH | NOW, 10, 0)
fcntl.lockf(b, fcntl.LOCK_SH | NOW, 10, 0)
check(refused(fcntl.lockf, b, fcntl.LOCK_EX | NOW, 10, 0), "an upgrade ignored the other reader")
fcntl.lockf(a, fcntl.LOCK_UN)
fcntl.lockf(b, fcntl.LOCK_EX | NOW, 10, 0)

# F_GETLK tells what is in the way.
query = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
answer = struct.unpack("hhqqi4x", fcntl.fcntl(a, fcntl.F_GETLK, query))
check(answer[0] == fcntl.F_WRLCK and answer[2:4] == (0, 10), "F_GETLK: %r" % (answer,))
fcntl.lockf(b, fcntl.LOCK_UN)
answer = struct.unpack("hhqqi4x", fcntl.fcntl(a, fcntl.F_GETLK, query))
check(answer[0] == fcntl.F_UNLCK, "F_GETLK of a free range: %r" % (answer,))

# Closing any descriptor of the file gives up the process's fcntl locks; so does its death.
fcntl.lockf(a, fcntl.LOCK_EX | NOW)
open(first + "/file").close()
fcntl.lockf(b, fcntl.LOCK_EX | NOW)
fcntl.lockf(b, fcntl.LOCK_UN)
ready, tell = os.pipe()
def hold():
    file = open(first + "/file", "r+")
    fcntl.lockf(file, fcntl.LOCK_EX)
    os.write(tell, b"x")
    signal.pause()
holder = child(hold)
os.read(ready, 1)
check(refused(fcntl.lockf, b, fcntl.LOCK_EX | NOW), "a lock of another process was ignored")
os.kill(holder, signal.SIGKILL)
os.waitpid(holder, 0)
fcntl.lockf(b, fcntl.LOCK_EX)

# Waiting: granted when the other lets go; ended by a signal; a killed process leaves nothing behind.
def wait_for_it():
    os.write(tell, b"x")
    fcntl.lockf(open(first + "/file", "r+"), fcntl.LOCK_EX)
waiter = child(wait_for_it)
os.read(ready, 1)
fcntl.lockf(b, fcntl.LOCK_UN)
check(ended_well(waiter), "a waiter did not get the lock")
fcntl.lockf(b, fcntl.LOCK_EX)
class Interrupted(Exception):
    pass
def interrupt(*_):
    raise Interrupted
def wait_with_alarm():
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        fcntl.lockf(open(first + "/file", "r+"), fcntl.LOCK_EX)
    except Interrupted:
        return 0
    return 1
check(ended_well(child(wait_with_alarm)), "a signal did not end the wait")
waiter = child(wait_for_it)
os.read(ready, 1)
time.sleep(0.05)
os.kill(waiter, signal.SIGKILL)
os.waitpid(waiter, 0)
fcntl.lockf(b, fcntl.LOCK_UN)
for _ in range(3):
    fcntl.lockf(b, fcntl.LOCK_EX)
    fcntl.lockf(b, fcntl.LOCK_UN)

# flock belongs to the open file, not to the process.
c = open(first + "/file", "r+")
fcntl.flock(a, fcntl.LOCK_EX | NOW)
check(refused(fcntl.flock, b, fcntl.LOCK_EX | NOW), "flock was ignored by the other mount")
check(refused(fcntl.flock, c, fcntl.LOCK_EX | NOW), "flock was ignored by another open file")
fcntl.flock(a, fcntl.LOCK_SH | NOW)
fcntl.flock(b, fcntl.LOCK_SH | NOW)
fcntl.flock(b, fcntl.LOCK_UN)
fcntl.flock(a, fcntl.LOCK_EX | NOW)
a.close()
fcntl.flock(b, fcntl.LOCK_EX)  # the kernel tells of the last close a moment after close(2)
b.close()
c.close()

# Locks of an open file description: another descriptor of the file that is closed does not release
# them, the last one of their own does.
def description_lock(file, kind, command=fcntl.F_OFD_SETLK):
    fcntl.fcntl(file, command, struct.pack("hhqqi4x", kind, 0, 0, 0, 0))
a, b, c = (open(directory + "/file", "r+") for directory in (first, second, first))
description_lock(a, fcntl.F_WRLCK)
check(refused(description_lock, c, fcntl.F_WRLCK), "two descriptions of one process hold one lock")
check(refused(description_lock, b, fcntl.F_WRLCK), "a description's lock was ignored by the other mount")
open(first + "/file").close()
keeper = os.dup(a.fileno())
a.close()
check(refused(description_lock, b, fcntl.F_WRLCK), "closing another descriptor released a description's lock")
os.close(keeper)  # while c stays open
description_lock(b, fcntl.F_WRLCK, fcntl.F_OFD_SETLKW)
a = open(first + "/file", "r+")
check(refused(fcntl.lockf, a, fcntl.LOCK_EX | NOW), "a process got what a description has locked")
description_lock(b, fcntl.F_UNLCK)
fcntl.lockf(a, fcntl.LOCK_EX | NOW)
for file in (a, b, c):
    file.close()

# What was written under a lock is seen under the next one, although the size never changes.
ROUNDS = 60
def count(directory):
    with open(directory + "/counter", "r+") as file:
        for _ in range(ROUNDS):
            fcntl.lockf(file, fcntl.LOCK_EX)
            value = int(os.pread(file.fileno(), 16, 0))
            os.pwrite(file.fileno(), b"%08d\n" % (value + 1), 0)
            fcntl.lockf(file, fcntl.LOCK_UN)
counters = [child(lambda: count(first)), child(lambda: count(first)), child(lambda: count(second))]
for pid in counters:
    check(ended_well(pid), "a counter failed")
total = int(open(first + "/counter").read())
check(total == 3 * ROUNDS, "counted %d instead of %d" % (total, 3 * ROUNDS))
