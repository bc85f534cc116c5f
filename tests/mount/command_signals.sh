#!/usr/bin/env bash
# TERM and INT end the mount in order, whatever uses it and whatever the server does (U26, U20).
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
start_responder
echo served >"$export/served"
mount_in_background() { "$NFSRDMA_BIN/nfsrdma" -o "port=$port" 127.0.0.1:/ "$mnt"; }

for signal in TERM INT; do
  mount_in_background
  pid=$(daemon)
  kill -$signal "$pid"
  wait_for "the end after $signal" gone "$pid"
  not_mounted "$mnt" || fail "$signal left a mount"
done

# HUP means nothing in the background.
mount_in_background
pid=$(daemon)
kill -HUP "$pid"
same served "$(cat "$mnt/served")" "a file after HUP"

kill -TERM "$pid"
wait_for "the end after HUP and TERM" gone "$pid"

# With log= it means that the log has been rotated, in the foreground as well.
cd "$work"
for foreground in "" -f; do
  rm -f log log.1
  command=("$NFSRDMA_BIN/nfsrdma" ${foreground:+"$foreground"} -o "port=$port,log=log" 127.0.0.1:/ "$mnt")
  # In the background the program that was started is gone when the mount is there; daemon would find it, too.
  # Under nohup(1) as well.
  if [ -n "$foreground" ]; then (trap '' HUP; exec "${command[@]}") & else "${command[@]}"; fi
  wait_for "the mount with a log of its own" mountpoint -q "$mnt"
  pid=$(daemon)
  mv log log.1
  kill -HUP "$pid"
  wait_for "a new log" grep -q "$mnt: the log is opened anew" log
  grep -q "$mnt: 127.0.0.1:/ is mounted, by process $pid" log.1 || fail "the first log: $(cat log.1)"
  kill -TERM "$pid"
  wait_for "the end with a log of its own" gone "$pid"
  [ -z "$foreground" ] || wait "$pid" || fail "the exit status with a log of its own: $?"
  grep -q "$mnt: 127.0.0.1:/ is unmounted" log || fail "the second log: $(cat log)"
done
mount_in_background
pid=$(daemon)

# In use: detached at once, and the user gets an error instead of hanging.
exec 9<"$mnt/served"
kill -TERM "$pid"
wait_for "the end while in use" gone "$pid"
not_mounted "$mnt" || fail "TERM left a mount in use"
if cat <&9 >/dev/null 2>&1 && head -c 1 /proc/self/fd/9 >/dev/null 2>&1; then
  echo "the open file was still in the page cache"
fi
exec 9<&-

# The server does not answer any more.
mount_in_background
pid=$(daemon)
same ok "$(control stop)" "stop"
cat "$mnt/other" >/dev/null 2>&1 &
reader=$!
kill -TERM "$pid"
wait_for "the end while the server is silent" gone "$pid"
not_mounted "$mnt" || fail "a silent server left a mount"
wait $reader && fail "a read of a server that does not answer succeeded"
same ok "$(control continue)" "continue"

# What the program was started to ignore (nohup(1), a shell's background) does not end it.
(trap '' HUP INT; exec "$NFSRDMA_BIN/nfsrdma" -f -o "port=$port" 127.0.0.1:/ "$mnt") >ignoring.log 2>&1 &
pid=$!
wait_for "the mount that ignores signals" mountpoint -q "$mnt"
kill -HUP $pid
kill -INT $pid
kill -USR1 $pid  # comes after them
wait_for "the counters" grep -q fs_inodes ignoring.log
same served "$(cat "$mnt/served")" "a file after signals that are ignored"
kill -TERM $pid
wait $pid || fail "exit code $? after HUP and INT, which are ignored, and TERM: $(cat ignoring.log)"

# A signal while the end that another way has begun saves what was written, as a service manager sends it after its
# umount(8), is no second one.
connections=/sys/fs/fuse/connections
if [ "$(id -u)" -eq 0 ] && { mountpoint -q $connections || mount -t fusectl fusectl $connections 2>/dev/null; }; then
  mount_export
  number=$(findmnt -no MAJ:MIN "$mnt" | cut -d: -f2 | tr -d ' ')
  # A shell would close a copy of the descriptor, and each close waits for the server.
  python3 - "$work/control" "$mnt/saved" "$connections/$number/abort" <<'PY'
import control, os, sys
socket, name, abort = sys.argv[1:]
file = os.open(name, os.O_WRONLY | os.O_CREAT)
control.send(socket, "stop")
os.write(file, b"saved\n")
with open(abort, "w") as end:
    end.write("1")
PY
  wait_for "the end's beginning" grep -qE ': (unmounted|read .dev.fuse)' mount0.log
  kill -TERM "${mount_pids[0]}"
  wait_for "the signal" grep -q 'a signal while the mount ends' mount0.log
  same ok "$(control continue)" "continue"
  wait "${mount_pids[0]}" || fail "exit code $? after an abort and one SIGTERM"
  mount_pids[0]=
  same saved "$(cat "$export/saved")" "what was written before the abort"
else
  echo "not tried: SIGTERM while the program ends by itself (needs root)"
fi

# In the foreground, by unmounting: exit code 0.
mount_export
unmount_export
