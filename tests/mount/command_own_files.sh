#!/usr/bin/env bash
# What the program writes for itself (stats=, capture=, the log) goes where it was told to and nowhere
# else, for the user only, and whatever becomes of it, the mount goes on.
. "$(dirname "$0")/lib.sh"
# File systems are mounted here: in a mount namespace that ends with the test.
if [ "$(id -u)" -eq 0 ] && [ -z "${NFSRDMA_NAMESPACE:-}" ]; then
  cd / && rm -rf "$work"
  NFSRDMA_NAMESPACE=1 exec unshare -m --propagation private bash "$here/$(basename "$0")"
fi
. "$here/command_lib.sh"
nfsrdma=$NFSRDMA_BIN/nfsrdma
start_responder
echo served >"$export/file"
source=127.0.0.1:/
refused_with() {
  local status=0
  timeout 20 "$nfsrdma" -f -o "port=$port,$1" $source "$mnt" 2>"$work/said.err" || status=$?
  same 32 $status "exit code with $1 ($(cat "$work/said.err"))"
  grep -qF -- "$2" "$work/said.err" || fail "with $1: $(cat "$work/said.err"); expected: $2"
}

# Refused at the start.
refused_with "stats=$work/no/such/x" "stats: No such file or directory ($work/no/such/x)"
refused_with "capture=$work/no/such/x" "capture: No such file or directory ($work/no/such/x)"
refused_with "log=$work/no/such/x" "log: No such file or directory ($work/no/such/x)"
refused_with "log=$mnt/x" "log: Invalid argument ($mnt/x lies below the mount point"
refused_with "log=$export" "log: Is a directory ($export)"
refused_with "stats=$mnt/x" "stats: Invalid argument ($mnt/x lies below the mount point"
refused_with "capture=$mnt/x" "capture: Invalid argument ($mnt/x lies below the mount point"
refused_with "stats=$export" "stats: Invalid argument ($export is not a regular file"
ln -s "$work/victim" "$work/link"
echo precious >"$work/victim"
refused_with "capture=$work/link" "$work/link is a symbolic link"
refused_with "record=$work/link" "nfsrdma: $source: create capture file: Too many levels of symbolic links ($work/link is a symbolic link"
refused_with "log=$work/link" "log: Too many levels of symbolic links ($work/link)"
ln "$work/victim" "$work/name"
refused_with "log=$work/name" "$work/name is not an own, ordinary file"
refused_with "capture=$work/name" "$work/name is not an own, ordinary file"
same precious "$(cat "$work/victim")" "a file that a capture was to be written to"

# run NAME options: a program in the foreground, with its log in a file; sets $pid.
run() {
  "$nfsrdma" -f -o "port=$port,$2" $source "$mnt" 2>"$work/$1.log" &
  pid=$!
  wait_for "the mount $1" grep -q 'is mounted' "$work/$1.log"
}
# ends: the program, told to, and well.
ends() {
  local status=0
  kill -TERM "$pid"
  wait_for "the end" gone "$pid"
  wait "$pid" || status=$?
  same 0 $status "exit status"
}

# Through no symbolic link, and for no other user.
touch "$work/old.pcapng"
chmod 666 "$work/old.pcapng"
run links "stats=$work/stats,capture=$work/old.pcapng"
ln -s "$work/victim" "$work/stats.new"
kill -USR1 "$pid"
wait_for "counters" test -s "$work/stats"
same precious "$(cat "$work/victim")" "a file that a symbolic link led to"
same 600 "$(stat -c %a "$work/stats")" "mode of the counters"
same 600 "$(stat -c %a "$work/old.pcapng")" "mode of the capture"

# The directory of the counters becomes one of the mount itself.
mkdir "$export/inside" "$work/outside"
ends
run inside "stats=$work/outside/stats"
rmdir "$work/outside"
ln -s "$mnt/inside" "$work/outside"
kill -USR1 "$pid"
same served "$(timeout 20 cat "$mnt/file")" "a file after counters that cannot be written"
ends
same "" "$(ls "$export/inside")" "what was written into the mount"

# No program reads the log. It is longer than a pipe holds, and lines of it may be lost.
python3 - "$nfsrdma" "port=$port" "$mnt" <<'PY'
import os, signal, subprocess, sys, time
nfsrdma, options, mount = sys.argv[1:]
daemon = subprocess.Popen([nfsrdma, "-f", "-d", "-o", options, "127.0.0.1:/", mount],
                          stderr=subprocess.PIPE)
while not os.path.ismount(mount):
    time.sleep(0.02)
for i in range(2000):
    os.path.exists(mount + "/none%d" % i)
daemon.send_signal(signal.SIGTERM)
assert daemon.wait(60) == 0, daemon.returncode
PY
[ "$(id -u)" -eq 0 ] || exit 0

# The disk is full: for counters, capture and log. And the capture is all of it, not a part.
mkdir "$work/tiny"
mount -t tmpfs -o size=64k tiny "$work/tiny"
run full "stats=$work/tiny/stats,capture=$work/tiny/capture"
dd if=/dev/zero of="$mnt/large" bs=64k count=8 status=none
same 524288 "$(stat -c %s "$export/large")" "size of a file after the disk was full"
kill -USR1 "$pid"
wait_for "a word of the counters" grep -q "stats: No space left on device ($work/tiny/stats)" "$work/full.log"
grep -q "capture stopped: $work/tiny/capture: No space left on device" "$work/full.log" ||
  fail "no word of the capture"
ends
"$nfsrdma" -f -d -o "port=$port" $source "$mnt" 2>>"$work/tiny/log" &
pid=$!
wait_for "the mount" mountpoint -q "$mnt"
same 524288 "$(stat -c %s "$mnt/large")" "size of a file with a log that is full"
ends
umount "$work/tiny"
