#!/usr/bin/env bash
# P1: nothing waits for a callback alone. The server never sends CB_NOTIFY_LOCK, and a caller that waits
# for a lock gets it all the same, by asking; copy_file_range(2) is made of READ and WRITE, and ends.
. "$(dirname "$0")/lib.sh"
start_responder
second=$work/second
mount_export
mount_export "" "$second"

echo content >"$mnt/file"
python3 - "$mnt/file" "$second/file" <<'PY'
import fcntl, os, sys, time
holder, waiter = (open(name, "r+") for name in sys.argv[1:])
fcntl.lockf(holder, fcntl.LOCK_EX)
child = os.fork()
if child == 0:
    fcntl.lockf(waiter, fcntl.LOCK_EX)  # waits
    os._exit(0)
time.sleep(2)
if os.waitpid(child, os.WNOHANG) != (0, 0):
    sys.exit("FAILED: the lock was given to two")
fcntl.lockf(holder, fcntl.LOCK_UN)
if os.waitpid(child, 0)[1] != 0:
    sys.exit("FAILED: the waiter got no lock")
PY
# It asks after 0.1, 0.2, 0.4 ... s: every pause but the last one lay within the two seconds, and the
# one under way at the release was the last. More would be the machine's doing: twice that.
asked=$(served LOCK)
[ "$asked" -ge 4 ] || fail "$asked LOCK requests: the client has not asked again"
[ "$asked" -le 14 ] || fail "$asked LOCK requests for two locks"
same 0 "$(counter lock_waits_notified 1)" "callbacks about locks"

head -c 3000001 /dev/urandom >"$mnt/source"
timeout 60 python3 - "$mnt/source" "$mnt/copy" <<'PY' || fail "copy_file_range did not end"
import os, sys
source, copy = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o644)
left = os.fstat(source).st_size
while left > 0:
    done = os.copy_file_range(source, copy, left)
    if done == 0:
        sys.exit("FAILED: copy_file_range copies nothing")
    left -= done
os.close(copy)
PY
cmp "$mnt/source" "$mnt/copy"
cmp "$mnt/source" "$export/copy"
