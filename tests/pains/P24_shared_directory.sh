#!/usr/bin/env bash
# P24: Linux changes one directory at a time. Changes in different directories are under way at the
# same time; in one directory, one after the other. What that costs is printed, not judged.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
users=8

# in_flight_set PATH...: how many of these mkdirs are at the server together.
in_flight_set() {
  local pids=() path
  control stop >/dev/null
  for path in "$@"; do
    mkdir "$path" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do
    wait_for "a mkdir to wait" grep -qE 'request_wait_answer|rwsem|filename_create|inode_lock' \
      "/proc/$pid/wchan"
  done
  counter session_slots_in_use >"$work/in_flight_set"
  control continue >/dev/null
  wait "${pids[@]}"
}

for i in $(seq $users); do mkdir "$mnt/own$i"; done
for i in $(seq $users); do stat "$mnt/own$i" >/dev/null; done
in_flight_set $(seq -f "$mnt/own%.0f/d" $users)
same $users "$(cat "$work/in_flight_set")" "mkdirs under way in directories of their own"
mkdir "$mnt/shared"
in_flight_set $(seq -f "$mnt/shared/d%.0f" $users)
same 1 "$(cat "$work/in_flight_set")" "mkdirs under way in one directory"

# rate NAME PATTERN: creates and removes by several processes, each with its directory (or not).
rate() {
  local begun i pids=() each
  each=$(scaled 100 2000)
  begun=$(date +%s%N)
  for i in $(seq $users); do
    (for n in $(seq "$each"); do echo "$(printf "$2" "$i")$i-$n"; done | xargs touch) &
    pids+=($!)
  done
  wait "${pids[@]}"
  echo "$1: $((users * each * 1000 / (($(date +%s%N) - begun) / 1000000 + 1))) creates per second"
}
rate "own directories" "$mnt/own%d/f"
rate "one directory" "$mnt/shared/f%.0s"
same $((users * $(scaled 100 2000))) "$(find "$export/shared" -type f | wc -l)" "files made in one directory"
