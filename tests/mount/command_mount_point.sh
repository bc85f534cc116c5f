#!/usr/bin/env bash
# A mount point that will not do. A directory that is not empty will do.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
nfsrdma=$NFSRDMA_BIN/nfsrdma
start_responder
source=127.0.0.1:/
options=port=$port

expect 32 "mount: No such file or directory (mount point $work/missing)" \
  "$nfsrdma" -o "$options" $source "$work/missing"
touch "$work/file"
expect 32 "mount: Not a directory (mount point $work/file)" \
  "$nfsrdma" -o "$options" $source "$work/file"

# at_mount PID: its working directory is the mount.
at_mount() { [ "$(readlink "/proc/$1/cwd")" = "$mnt" ]; }

touch "$mnt/below"
echo served >"$export/served"
"$nfsrdma" -o "$options" $source "$mnt"
same served "$(ls "$mnt")" "names over a directory that is not empty"

# A second mount on the same place, and one after the program was killed.
status=0
"$nfsrdma" -o "$options" $source "$mnt" 2>"$work/said.err" || status=$?
same 32 $status "exit code of a second mount"
grep -q "is mounted on $mnt already; fusermount3 -u $mnt removes it" "$work/said.err" ||
  fail "$(cat "$work/said.err")"
pid=$(daemon)
(cd "$mnt" && exec sleep 1000) &
holder=$!
wait_for "a program in the directory" at_mount "$holder"
kill -KILL "$pid"
wait_for "the program's end" gone "$pid"
status=0
"$nfsrdma" -o "$options" $source "$mnt" 2>"$work/said.err" || status=$?
same 32 $status "exit code over a dead mount"
grep -q "$mnt is a dead mount.*fusermount3 -uz $mnt frees it" "$work/said.err" || fail "$(cat "$work/said.err")"
# What the message says works, also where a program is still there.
if fusermount3 -u "$mnt" 2>/dev/null; then fail "the dead mount was not in use"; fi
fusermount3 -uz "$mnt"
kill "$holder"
"$nfsrdma" -o "$options" $source "$mnt"
fusermount3 -u "$mnt"
