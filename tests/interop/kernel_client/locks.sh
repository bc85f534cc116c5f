#!/usr/bin/env bash
# Byte-range locks of the kernel's client in the guest and of nfsrdma on this machine, on one export of the responder: they
# exclude each other, who waits gets it, what was written under them is seen, and locks that are revoked are lost.
# Usage: locks.sh siw|tcp
. "$(dirname "$0")/lib.sh"
caused "lost 1 locks"
serve_kernel "$1" --lease 10
echo data >"$export/file"
mount_kernel "$kernel_port"
mount_export
cat >"$jobs/lock.py" <<'E2'
"""lock.py FILE WAIT|TRY [GO]: locks bytes 0 to 9, says so, appends a line when the file GO is there, unlocks. Exit status: errno."""
import fcntl, os, sys, time
path, how, go = (sys.argv + [""])[1:4]
try:
    with open(path, "r+b", buffering=0) as file:
        fcntl.lockf(file, fcntl.LOCK_EX | (fcntl.LOCK_NB if how == "TRY" else 0), 10, 0)
        print("locked", flush=True)
        while go and not os.path.exists(go):
            time.sleep(0.02)
        file.seek(0, os.SEEK_END)
        file.write(b"line\n")
        os.fsync(file.fileno())
        fcntl.lockf(file, fcntl.LOCK_UN, 10, 0)
except OSError as error:
    sys.exit(error.errno)
E2
eagain=11 eio=5
here_locks() { status=0; timeout $operation_patience python3 "$jobs/lock.py" "$mnt/file" "$@" || status=$?; }
there_locks() { status=0; in_mount "python3 /share/kernel/lock.py file $*" || status=$?; }
locked() { grep -q locked "$1"; }

launch holder "exec python3 /share/kernel/lock.py file TRY /share/kernel/go"
wait_for "the lock in the guest" locked "$jobs/holder.out"
here_locks TRY
same $eagain $status "a lock that the kernel's client holds"
python3 "$jobs/lock.py" "$mnt/file" WAIT >"$work/waiter.out" &
waiter=$!
touch "$jobs/go"
await holder
wait $waiter || fail "who waited here: $?"
same "data line line" "$(in_mount cat file | paste -sd' ')" "what was written under locks"

python3 "$jobs/lock.py" "$mnt/file" TRY "$work/go" >"$work/holder.out" &
holder=$!
wait_for "the lock here" locked "$work/holder.out"
there_locks TRY
same $eagain $status "a lock that nfsrdma holds, asked for by the kernel's client"
launch waiter "exec python3 /share/kernel/lock.py file WAIT"
touch "$work/go"
wait $holder || fail "who held it here: $?"
await waiter
same "data line line line line" "$(paste -sd' ' "$export/file")" "the file at the server"

# Revoked: the holder gets EIO once its client has heard of it (what it writes meanwhile goes out under the open's stateid), and
# another client can have the lock.
rm "$jobs/go"
losses() { guest_run "dmesg | grep -c 'lost 1 locks' || true"; }
before=$(losses)
lost() { [ "$(losses)" -gt "$before" ]; }
launch loser "exec python3 /share/kernel/lock.py file TRY /share/kernel/go"
wait_for "the lock in the guest" locked "$jobs/loser.out"
same "ok 1" "$(control revoke-locks)" "locks that were revoked"
here_locks TRY
same 0 $status "a lock that was revoked"
in_mount "stat file" >/dev/null
wait_for "the client to hear of it" lost
touch "$jobs/go"
wait_for "the holder" test -s "$jobs/loser.status"
same $eio "$(cat "$jobs/loser.status")" "the holder of a revoked lock"
there_locks TRY
same 0 $status "the next lock of the kernel's client"
unmount_kernel || fail "the guest does not unmount"
