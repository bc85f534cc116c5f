#!/usr/bin/env bash
# FUSE over io_uring: thousands of programs of one processor wait for a lock, and whoever holds it can give it back, from that
# processor: there is an entry for each request that waits.
: "${NFSRDMA_MOUNT_OPTIONS:=io_uring=auto}"
. "$(dirname "$0")/lib.sh"
case "$NFSRDMA_BIN" in *asan* | *tsan*) skip "thousands of waiters take minutes under a sanitizer" ;; esac
waiters=2600
patience=4000  # as many threads start on one processor
ulimit -n $((waiters + 200)) 2>/dev/null || skip "no $waiters open files"
start_responder
mount_export

# A thread for each waiter, with a lock of its own (OFD). All run on the processor of the holder.
cat >"$work/waiters.py" <<'P'
"""waiters.py FILE COUNT: holds a lock, gives it back when so many threads wait for it, and leaves when one of
them has it."""
import fcntl, os, struct, sys, threading, time
F_OFD_SETLKW = 38
name, count = sys.argv[1], int(sys.argv[2])
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
def lock(file, kind):
    fcntl.fcntl(file, F_OFD_SETLKW, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))
holder = os.open(name, os.O_CREAT | os.O_RDWR)
files = [os.open(name, os.O_RDWR) for _ in range(count)]
lock(holder, fcntl.F_WRLCK)
print("held", flush=True)
got = threading.Event()
def waits(thread):
    with open(f"/proc/self/task/{thread}/syscall") as call: return call.read().startswith("72 ")  # fcntl
def wait(file):
    lock(file, fcntl.F_WRLCK)
    got.set()
threading.stack_size(65536)
try:
    for number, file in enumerate(files):
        threading.Thread(target=wait, args=(file,), daemon=True).start()
        # The daemon must have run before the entries that are left are in use (nfsrdma(8), io_uring).
        if number % 50 == 0: os.fstatvfs(holder)
except RuntimeError:
    print("no threads", flush=True)
    os._exit(0)
while sum(map(waits, os.listdir("/proc/self/task"))) < count: time.sleep(0.05)
lock(holder, fcntl.F_UNLCK)
print("given back", flush=True)
got.wait()
print("handed over", flush=True)
os.kill(os.getpid(), 9)
P
python3 "$work/waiters.py" "$mnt/file" $waiters >"$work/said" 2>&1 &
pid=$!
wait_for "the lock to be given back" grep -qE "given back|no threads" "$work/said"
if grep -q "no threads" "$work/said"; then skip "no $waiters threads"; fi
entries=$(counter fuse_ring_entries)
[ "$entries" -lt $((8 * waiters)) ] || fail "$entries entries for $waiters waiters"
wait_for "another to have it" grep -q "handed over" "$work/said"
wait "$pid" || true  # all its threads have left the kernel
