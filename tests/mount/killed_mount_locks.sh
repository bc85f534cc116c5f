#!/usr/bin/env bash
# After SIGKILL of the daemon the next mount of the same user takes over as the same client: its predecessor's locks do not stand in its
# way. Another mount that lives, and a copy of the file that says who the client is, are clients of their own.
. "$(dirname "$0")/lib.sh"
# Longer than this test: no lock goes by itself.
start_responder --lease 3000
install -d -m 700 "$work/sockets"
mounted=0
# mount_here: one more mount, with its control socket beside the others; its number is $((mounted - 1)).
mount_here() {
  mount_export "control=$work/sockets/$mounted.sock" "$work/m$mounted"
  mounted=$((mounted + 1))
}
# kill_mount I: as by the kernel when memory is short.
kill_mount() {
  { kill -KILL "${mount_pids[$1]}" && wait "${mount_pids[$1]}"; } 2>/dev/null || true
  mount_pids[$1]=
  exec 5>&- || true
  fusermount3 -uz "${mount_points[$1]}" || true
  wait_for "the end of a dead mount" no_mount_at "${mount_points[$1]}"
}
no_mount_at() { ! findmnt -n "$1" >/dev/null; }
# lock I FILE: ok, or the errno.
lock() { errno_of "fcntl.lockf(os.open('$work/m$1/$2', os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)"; }
# hold I FILE: a process locks the file until its input ends.
cat >"$work/hold.py" <<'P'
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.lockf(fd, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
P
mkfifo "$work/held"
hold() {
  rm -f "$work/hold.out"
  python3 "$work/hold.py" "$work/m$1/$2" <"$work/held" >"$work/hold.out" 2>&1 &
  exec 5>"$work/held"
  wait_for "a lock" grep -q locked "$work/hold.out"
}
owners() { find "$work/sockets" -name '.*.owner' | wc -l; }
touch "$export/file"
chmod 666 "$export/file"

mount_here
same 1 "$(owners)" "files with a client owner"
same 600 "$(find "$work/sockets" -name '.*.owner' -printf %m)" "the mode of that file"
hold 0 file
# Two at once.
mount_here
same EAGAIN "$(lock 1 file)" "another mount that lives: the lock of the first"
kill_mount 0
same EAGAIN "$(lock 1 file)" "another mount that lives: the lock of the one that was killed"
# The next one.
mount_here
same ok "$(lock 2 file)" "the mount after the one that was killed"
same ok "$(lock 1 file)" "another mount that lives, after that"
unmount_export "$work/m1"

# A copy, as in a clone of a container: the copy is another file, and nobody has locked it.
hold 2 file
kept=$(find "$work/sockets" -name '.*.owner')
cp -p "$kept" "$work/sockets/copy"
mv "$work/sockets/copy" "$kept"
mount_here
same EAGAIN "$(lock 3 file)" "a client that found a copy: the lock of the other one"
same text "$(echo text >"$work/m2/file" && cat "$export/file")" "the other one writes"
unmount_export "$work/m3"
exec 5>&-

# After a restart of the machine, and under another host name: nothing of that time is of use.
for change in 's/^boot [^ ]*/boot another/' 's/ host [^ ]* / host another /' 's/ machine [^ ]* / machine another /'; do
  mount_here
  i=$((mounted - 1))
  hold $i file
  kill_mount $i
  sed "$change" "$kept" >"$work/changed"
  cat "$work/changed" >"$kept"  # the same file
  mount_here
  same EAGAIN "$(lock $((mounted - 1)) file)" "the mount after $change"
  unmount_export "$work/m$((mounted - 1))"
  # No lease ends here: the lock of a client that nobody comes for again goes with the server's state.
  same ok "$(control reboot 0)" "reboot"
done
unmount_export "$work/m2"
same 0 "$(owners)" "files with a client owner after all have ended"
