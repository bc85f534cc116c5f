#!/usr/bin/env bash
# /dev/fd/N: another program has opened /dev/fuse and mounted it; the program serves it as an ordinary user, in the
# foreground and in the background, and leaves unmounting to the other one.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can mount(2) for the program"
start_responder
echo served >"$export/file"
chmod 755 "$work" && chmod 777 "$export"
. "$here/passed_device_lib.sh"

# In the foreground; the one who mounted unmounts, and the program ends well.
"${pass[@]}" -f -o "port=$port,allow_other" >foreground.log 2>&1 &
pid=$!
wait_for "the mount" grep -q 'is mounted, by process' foreground.log
same served "$(timeout 60 cat "$mnt/file")" "a file"
echo written >"$mnt/new"
same $ordinary_user "$(sed -n 's/^Uid:\t\([0-9]*\).*/\1/p' "/proc/$pid/status")" "the user of the program"
umount "$mnt"
wait $pid || fail "exit code $? after umount: $(cat foreground.log)"
same written "$(cat "$export/new")" "what was written"
! grep -q ' [WE] ' foreground.log || fail "$(cat foreground.log)"

# In the background, and ended by a signal: the data is there, the mount is dead and still the other one's.
"${pass[@]}" -o "port=$port,allow_other" || fail "no mount in the background"
pid=$(daemon)
exec 9>"$mnt/late"
echo late >&9
kill -TERM "$pid"
wait_for "the program's end" gone "$pid"
exec 9>&- || true
same late "$(cat "$export/late")" "what was written before SIGTERM"
grep -q " $mnt fuse.nfsrdma " /proc/mounts || fail "the program has unmounted what it did not mount"
umount "$mnt"

# What is no such device.
expect 32 "/dev/fd/77 is not an open /dev/fuse" "$NFSRDMA_BIN/nfsrdma" -o "port=$port" 127.0.0.1:/ /dev/fd/77
expect 32 "/dev/fd/0 is not an open /dev/fuse" "$NFSRDMA_BIN/nfsrdma" -o "port=$port" 127.0.0.1:/ /dev/fd/0 </dev/null
