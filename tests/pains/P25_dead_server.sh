#!/usr/bin/env bash
# P25: the server is dead. A process that waits for it, in any call, is gone when it is killed; the
# mount can be aborted and unmounted.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs to abort a FUSE connection"
connections=/sys/fs/fuse/connections
if ! mountpoint -q $connections; then
  mount -t fusectl fusectl $connections 2>/dev/null || skip "no $connections"
fi
start_responder
head -c 1M /dev/zero >"$export/file"
mkdir "$export/dir"
touch "$export/dir/name"
mount_export "noac,lookupcache=none"

# killed "what" command...: it waits for the server, and is gone soon after SIGKILL.
killed() {
  local what=$1 pid
  shift
  "$@" >/dev/null 2>&1 &
  pid=$!
  wait_for "'$what' to wait for the server" grep -qE 'request_wait_answer|folio|fuse|page' \
    "/proc/$pid/wchan"
  kill -KILL $pid
  # A second is what a user notices; a busy machine gets more of them.
  for _ in $(seq 50); do
    [ -e "/proc/$pid" ] && [ "$(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null)" != Z ] || return 0
    sleep 0.1
  done
  fail "'$what' is still there: $(cat "/proc/$pid/wchan" 2>/dev/null)"
}

number=$(findmnt -no MAJ:MIN "$mnt" | cut -d: -f2 | tr -d ' ')
exec 5<"$mnt/file"
control stop >/dev/null
killed "stat" stat "$mnt/file"
killed "open" cat "$mnt/file"
killed "read" cat /dev/fd/5
killed "readdir" ls "$mnt/dir"
killed "mkdir" mkdir "$mnt/new"
killed "page fault" python3 -c '
import mmap
m = mmap.mmap(5, 1 << 20, mmap.MAP_SHARED, mmap.PROT_READ)
print(m[500000])'
exec 5<&-

# The server never comes back, and all goes down within its time.
daemon=${mount_pids[0]}
cat "$mnt/file" >/dev/null 2>&1 &
reader=$!
sleep 0.2
echo 1 >"$connections/$number/abort"
for _ in $(seq 100); do kill -0 $reader 2>/dev/null || break; sleep 0.1; done
kill -0 $reader 2>/dev/null && fail "a reader outlives the abort"
fusermount3 -u "$mnt" 2>/dev/null || fusermount3 -uz "$mnt"
for _ in $(seq 100); do kill -0 "$daemon" 2>/dev/null || break; sleep 0.1; done
kill -0 "$daemon" 2>/dev/null && fail "the daemon outlives abort and unmount"
mount_pids[0]=
wait "$daemon" 2>/dev/null || true
control continue >/dev/null
