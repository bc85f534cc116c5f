"""Locks of a file that is delegated to the mount of the first directory; the second is another mount:
delegated_locks.py DIR DIR STATISTICS-OF-THE-FIRST PID-OF-THE-FIRST."""
import fcntl, os, signal, struct, sys, time

first, second, statistics, daemon = sys.argv[1:5]
NOW = fcntl.LOCK_NB
PATIENCE = 30  # seconds

def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)

def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        check(time.monotonic() < end, "waited in vain for " + what)
        time.sleep(0.01)

def counter(name):
    if os.path.exists(statistics):
        os.unlink(statistics)
    os.kill(int(daemon), signal.SIGUSR1)
    lines = []
    def written():
        if os.path.exists(statistics):
            lines[:] = [line.split() for line in open(statistics)]
        return any(line[0] == "fs_inodes" for line in lines)
    wait_for("counters", written)
    return dict((line[0], int(line[1])) for line in lines).get(name, 0)

def refused(call, *arguments):
    try:
        call(*arguments)
    except (BlockingIOError, PermissionError):
        return True
    return False

def in_child(work):
    """Another process, another lock-owner; returns its exit code."""
    pid = os.fork()
    if pid == 0:
        os._exit(work() or 0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def start(work):
    pid = os.fork()
    if pid == 0:
        os._exit(work() or 0)
    return pid

def ended(pid, wait=0):
    done, status = os.waitpid(pid, 0 if wait else os.WNOHANG)
    if done:
        check(os.waitstatus_to_exitcode(status) == 0, "a process that waited for a lock failed")
    return bool(done)

a = open(first + "/file", "r+b", buffering=0)
check(counter("delegations") == 1, "no delegation")

# No request, whatever is written between them; the renewal of the lease may cost a few.
before = counter("session_requests")
for i in range(200):
    fcntl.lockf(a, fcntl.LOCK_EX, 8, 8 * (i % 4))
    os.pread(a.fileno(), 8, 0)
    fcntl.lockf(a, fcntl.LOCK_UN, 8, 8 * (i % 4))
    fcntl.flock(a, fcntl.LOCK_SH)
    fcntl.flock(a, fcntl.LOCK_UN)
sent = counter("session_requests") - before
check(sent <= 5, "%d requests for 800 locks and unlocks" % sent)

# Between processes of this mount.
fcntl.lockf(a, fcntl.LOCK_EX | NOW, 10, 0)
def other_process():
    b = open(first + "/file", "r+b", buffering=0)
    if not refused(fcntl.lockf, b, fcntl.LOCK_EX | NOW, 5, 5): return 1
    fcntl.lockf(b, fcntl.LOCK_EX | NOW, 5, 10)
    query = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    answer = struct.unpack("hhqqi4x", fcntl.fcntl(b, fcntl.F_GETLK, query))
    return 0 if answer[0] == fcntl.F_WRLCK and answer[2:5] == (0, 10, os.getppid()) else 2
check(in_child(other_process) == 0, "another process of this mount")

# A waiter is woken when the holder unlocks, or is ended by a signal.
def waiter():
    b = open(first + "/file", "r+b", buffering=0)
    fcntl.lockf(b, fcntl.LOCK_EX, 1, 0)
pid = start(waiter)
time.sleep(0.2)
check(not ended(pid), "a lock was granted twice")
fcntl.lockf(a, fcntl.LOCK_UN)
wait_for("the lock", lambda: ended(pid))
check(counter("delegations") == 1, "the delegation is gone")

# The other client opens the file: what is locked here is locked there, what was written is seen.
fcntl.lockf(a, fcntl.LOCK_EX | NOW, 10, 0)
os.pwrite(a.fileno(), b"CONTENT", 0)
fcntl.lockf(a, fcntl.LOCK_SH | NOW, 10, 20)
c = open(second + "/file", "r+b", buffering=0)
check(counter("delegations") == 0, "the delegation is still here")
check(refused(fcntl.lockf, c, fcntl.LOCK_EX | NOW, 1, 9), "a lock was not made known")
check(refused(fcntl.lockf, c, fcntl.LOCK_EX | NOW, 1, 29), "a shared lock was not made known")
fcntl.lockf(c, fcntl.LOCK_SH | NOW, 1, 29)
fcntl.lockf(c, fcntl.LOCK_EX | NOW, 10, 10)
check(os.pread(c.fileno(), 7, 0) == b"CONTENT", "what was written before the return")
fcntl.lockf(c, fcntl.LOCK_UN)

# A process of the other mount waits until this one unlocks, and sees what was written under the lock.
def remote_waiter():
    d = open(second + "/file", "r+b", buffering=0)
    fcntl.lockf(d, fcntl.LOCK_EX, 10, 0)
    return 0 if os.pread(d.fileno(), 7, 0) == b"changed" else 1
pid = start(remote_waiter)
time.sleep(0.2)
check(not ended(pid), "a lock of the other client was ignored")
os.pwrite(a.fileno(), b"changed", 0)
fcntl.lockf(a, fcntl.LOCK_UN)
wait_for("the lock, at the other client", lambda: ended(pid))

# A process that waits for a lock of this mount goes on waiting, at the server, when the delegation ends.
a.close(); c.close()
a = open(first + "/new", "w+b", buffering=0)
check(counter("delegations") >= 1, "no delegation of the new file")
fcntl.lockf(a, fcntl.LOCK_EX | NOW)
def late_waiter():
    b = open(first + "/new", "r+b", buffering=0)
    fcntl.lockf(b, fcntl.LOCK_EX)
pid = start(late_waiter)
time.sleep(0.2)
c = open(second + "/new", "r+b", buffering=0)
check(refused(fcntl.lockf, c, fcntl.LOCK_EX | NOW), "a lock was not made known")
check(not ended(pid), "a lock was granted twice during the return")
fcntl.lockf(a, fcntl.LOCK_UN)
wait_for("the lock, after the return", lambda: ended(pid))
fcntl.lockf(c, fcntl.LOCK_EX | NOW)

# A process that dies gives its locks up.
a.close(); c.close()
def dying():
    b = open(first + "/dying", "w+b", buffering=0)
    fcntl.lockf(b, fcntl.LOCK_EX)
    os.kill(os.getpid(), signal.SIGKILL)
check(in_child(dying) == -signal.SIGKILL, "the process that was to die")
c = open(second + "/dying", "r+b", buffering=0)
wait_for("the lock of a dead process",
         lambda: not refused(fcntl.lockf, c, fcntl.LOCK_EX | NOW))
