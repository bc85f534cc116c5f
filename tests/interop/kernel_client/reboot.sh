#!/usr/bin/env bash
# The responder reboots under the kernel's client in the guest, with a grace period and without: open files, a copy, a lock and a
# delegation are reclaimed; without a grace period a lock is lost, and its holder hears of it.
# Usage: reboot.sh siw|tcp
. "$(dirname "$0")/lib.sh"
caused "lost 1 locks"
serve_kernel "$1" --delegations write --lease 10
patience=$job_patience  # an open waits for the end of the grace period
grace=30  # seconds: for an emulated client on a busy machine
head -c 8M /dev/urandom >"$export/source"
seq 100000 >"$export/reader"
echo data >"$export/locked"
mount_kernel "$kernel_port"
cat >"$jobs/holder.py" <<'E2'
"""holder.py ROUND: under a lock, appends a line when the file go-ROUND is there. Exit status: errno."""
import fcntl, os, sys, time
round = sys.argv[1]
try:
    with open("locked", "r+b", buffering=0) as file:
        fcntl.lockf(file, fcntl.LOCK_EX, 10, 0)
        print("locked", flush=True)
        while not os.path.exists("/share/kernel/go-" + round):
            time.sleep(0.02)
        file.seek(0, os.SEEK_END)
        file.write(f"after {round}\n".encode())
        os.fsync(file.fileno())
except OSError as error:
    sys.exit(error.errno)
E2

# reboot ROUND SECONDS: with two open files, a lock and a copy on the way.
reboot() {
  local round=$1
  launch opened-$round "exec 5<reader 6>>writer; head -n 1 <&5; touch /share/kernel/ready-$round
    while [ ! -e /share/kernel/go-$round ]; do sleep 0.1; done; tail -n 1 <&5; echo after $round >&6"
  launch holder-$round "exec python3 /share/kernel/holder.py $round"
  wait_for "the open files" test -e "$jobs/ready-$round"
  wait_for "the lock" grep -q locked "$jobs/holder-$round.out"
  launch copy-$round "cp source copy; sync copy; cmp source copy"
  wait_for "the copy to begin" test -e "$export/copy"
  control reboot "$2" >/dev/null
  await copy-$round
  cmp "$export/source" "$export/copy" || fail "the copy at the server, $round"
  # Through the mount: the client has a delegation of it, and would open what is gone at the server.
  in_mount "rm copy"
  touch "$jobs/go-$round"
  await opened-$round
  same "1 100000" "$(paste -sd' ' "$jobs/opened-$round.out")" "the open file, $round"
  wait_for "the holder of the lock" test -s "$jobs/holder-$round.status"
}
for round in grace-1 grace-2; do
  reboot $round $grace
  same 0 "$(cat "$jobs/holder-$round.status")" "the holder of a reclaimed lock, $round"
done
same "data after grace-1 after grace-2" "$(paste -sd' ' "$export/locked")" "what was written under a reclaimed lock"

reboot none 0
same 5 "$(cat "$jobs/holder-none.status")" "the holder of a lock that was lost (EIO)"
same "after grace-1 after grace-2 after none" "$(paste -sd' ' "$export/writer")" "what was appended"
in_mount "timeout $operation_patience sh -c 'mkdir after; rmdir after'" || fail "afterwards nothing works"
unmount_kernel || fail "the guest does not unmount"
