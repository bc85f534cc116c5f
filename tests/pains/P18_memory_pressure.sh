#!/usr/bin/env bash
# P18: the server reboots while a program has more dirty pages than its memory group may hold, and
# once with the daemon in the same group: the recovery goes on, and all pages arrive.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs a memory group"
if [ -d /sys/fs/cgroup/memory ]; then
  group=/sys/fs/cgroup/memory/nfsrdma-pains-$$
  limit=memory.limit_in_bytes
else
  group=/sys/fs/cgroup/nfsrdma-pains-$$
  limit=memory.max
fi
mkdir "$group" 2>/dev/null || skip "no memory group can be made"
# Every process leaves the group, so that it can be removed.
leave_group() {
  local status=$? pid
  for pid in $(cat "$group/cgroup.procs"); do
    echo "$pid" >"$(dirname "$group")/cgroup.procs" 2>/dev/null || true
  done
  rmdir "$group" 2>/dev/null || true
  clean_up $status
}
trap leave_group EXIT
[ -w "$group/$limit" ] || skip "memory groups have no limit here"
start_responder --lease 5
megabytes=$(scaled 48 512)

# dirty NAME: maps the file, and changes all of its pages three times.
dirty() {
  echo $BASHPID >"$group/cgroup.procs"
  exec timeout 150 python3 - "$mnt/$1" "$megabytes" <<'PY'
import mmap, os, sys
pages = int(sys.argv[2]) * 256
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
os.ftruncate(fd, pages * 4096)
memory = mmap.mmap(fd, pages * 4096)
for turn in range(3):
    for page in range(pages):
        memory[page * 4096:(page + 1) * 4096] = bytes([(page * 7 + turn) % 251]) * 4096
    if turn == 0:
        open(sys.argv[1] + ".begun", "w").close()
memory.flush()
os.close(fd)
PY
}

check() {
  python3 - "$export/$1" "$megabytes" <<'PY' || fail "$1: not what was written"
import sys
with open(sys.argv[1], "rb") as file:
    for page in range(int(sys.argv[2]) * 256):
        if file.read(4096) != bytes([(page * 7 + 2) % 251]) * 4096:
            sys.exit(f"page {page} is wrong")
PY
}

# run NAME BYTES: with that limit.
run() {
  echo "$2" >"$group/$limit"
  dirty "$1" &
  local writer=$!
  wait_for "the first turn" test -e "$export/$1.begun"
  control "reboot 1" >/dev/null
  sleep 2
  control "reboot 0" >/dev/null
  wait $writer || fail "$1: the writer failed"
  check "$1"
  same 0 "$(counter opens_lost "$3")" "$1: files lost"
}

mount_export
run writer_alone $((16 << 20)) 0
unmount_export

# The daemon begins its life in the group: its own memory counts, too.
echo $((192 << 20)) >"$group/$limit"
outside=$(sed -n 's/.*:memory:\(.*\)/\1/p' /proc/self/cgroup)
echo $$ >"$group/cgroup.procs"
mount_export
echo $$ >"$(dirname "$group")${outside:+/$outside}/cgroup.procs" 2>/dev/null ||
  echo $$ >"$(dirname "$group")/cgroup.procs"
run with_the_daemon $((192 << 20)) 1
unmount_export
