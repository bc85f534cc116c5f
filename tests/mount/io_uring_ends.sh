#!/usr/bin/env bash
# FUSE over io_uring, while requests wait for a server that does not answer: SIGKILL of the daemon, umount -l and SIGTERM
# end every caller, and leave neither mount nor process. Without the option nothing comes over it.
: "${NFSRDMA_MOUNT_OPTIONS:=io_uring=auto}"
. "$(dirname "$0")/lib.sh"
start_responder
head -c 1M /dev/urandom >"$export/f"
mkfifo "$work/go"

# Eight direct reads at once; succeeds when each of them fails.
failing_reads() {
  python3 - "$mnt/f" "$work/opened" "$work/go" <<'PYTHON'
import mmap, os, sys, threading
name, opened, go = sys.argv[1:]
file = os.open(name, os.O_RDONLY | os.O_DIRECT)
failed = []
def read(offset):
    try:
        os.preadv(file, [mmap.mmap(-1, 4096)], offset)
    except OSError:
        failed.append(offset)
open(opened, "w").close()
open(go).read()
threads = [threading.Thread(target=read, args=(i * 4096,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit(len(failed) != len(threads))
PYTHON
}

# waiting_readers MOUNT: they wait for the server when this returns.
waiting_readers() {
  rm -f "$work/opened"
  failing_reads &
  readers=$!
  wait_for "the file to be opened" test -e "$work/opened"
  same ok "$(control stop)" "stop"
  echo >"$work/go"
  wait_for "the reads" all_reads_came "$1"
}
all_reads_came() { [ "$(counter fuse_requests_read "$1")" -ge 8 ]; }

# callers_ended: also when their connection has, and not their server.
callers_ended() {
  wait "$readers" || fail "a read succeeded without a server"
  same ok "$(control continue)" "continue"
}

daemon_ended() {
  wait_for "the daemon to end" is_gone "${mount_pids[$1]}"
  wait "${mount_pids[$1]}" || fail "the daemon ended with status $?"
  mount_pids[$1]=
}
is_gone() { [ ! -e "/proc/$1" ] || grep -q zombie "/proc/$1/status"; }

mount_export
[ "$(counter fuse_ring_entries)" -gt 0 ] || fail "requests do not come over io_uring"
waiting_readers 0
{ kill -KILL "${mount_pids[0]}" && wait "${mount_pids[0]}"; } 2>/dev/null || true
mount_pids[0]=
callers_ended
fusermount3 -u "$mnt"

mount_export
waiting_readers 1
umount -l "$mnt" 2>/dev/null || fusermount3 -uz "$mnt"
kill -TERM "${mount_pids[1]}"
callers_ended
daemon_ended 1

mount_export
waiting_readers 2
kill -TERM "${mount_pids[2]}"
callers_ended
daemon_ended 2
if mountpoint -q "$mnt"; then fail "the mount is still there"; fi

NFSRDMA_MOUNT_OPTIONS=
mount_export
cmp "$export/f" "$mnt/f"
same 0 "$(counter fuse_ring_entries 3)" "entries without the option"
