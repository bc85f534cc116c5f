#!/usr/bin/env bash
# What the kernel is told of the process: no data in core dumps; of root's, that it serves a file system and is not to be
# killed first.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
pid=${mount_pids[0]}
# Each mapping of 16 MiB or more that can be written is a pool of buffers, and has the flag "dd".
pools=$(awk '/^[0-9a-f]+-[0-9a-f]+ / { writable = $2 ~ /^rw/ && $6 == "" }
  /^Size:/ { size = $2 }
  /^VmFlags:/ && writable && size >= 16384 { print ($0 ~ / dd/ ? "left out" : "dumped " size) }' "/proc/$pid/smaps")
grep -q 'left out' <<<"$pools" || fail "no pool of buffers: $pools"
echo "$pools"

score=$(cat "/proc/$pid/oom_score_adj")
flusher=$(($(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f7) & 0x80000))  # PF_MEMALLOC_NOIO
resource=$(($(sed -n 's/^CapEff:[[:space:]]*/0x/p' /proc/self/status) & 0x1000000))  # CAP_SYS_RESOURCE
if [ "$(id -u)" -eq 0 ] && [ $resource -eq 0 ]; then
  echo "NOT TRIED: root without CAP_SYS_RESOURCE may tell the kernel neither"
elif [ "$(id -u)" -eq 0 ]; then
  same -500 "$score" "oom_score_adj of root's mount"
  [ $flusher -ne 0 ] || fail "the kernel does not know that root's mount serves a file system"
else
  same "$(cat /proc/self/oom_score_adj)" "$score" "oom_score_adj of an ordinary user's mount"
  same 0 $flusher "the flag of those who serve file systems"
fi
