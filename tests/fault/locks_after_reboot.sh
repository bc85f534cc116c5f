#!/usr/bin/env bash
# A lock outlives a reboot of the server with a grace period. Without one another client may have had
# it meanwhile: its holder is told by EIO instead of going on unprotected.
. "$(dirname "$0")/lib.sh"
start_responder --lease 5
mount_export
echo data >"$mnt/kept"
echo data >"$mnt/lost"

# hold FILE: locks it, reports, and appends a line when told to; its exit code is the errno.
hold() {
  exec python3 - "$1" <<'PY'
import fcntl, os, sys, time
file = open(sys.argv[1], "r+b", buffering=0)
fcntl.lockf(file, fcntl.LOCK_EX, 10, 0)
open(os.environ["work"] + "/held", "w").close()
while not os.path.exists(os.environ["work"] + "/go"):
    time.sleep(0.02)
try:
    file.seek(0, os.SEEK_END)
    file.write(b"more\n")
    os.fsync(file.fileno())
except OSError as error:
    sys.exit(error.errno)
fcntl.lockf(file, fcntl.LOCK_UN, 10, 0)
PY
}
try_lock() {
  python3 -c 'import fcntl, sys
try: fcntl.lockf(open(sys.argv[1], "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
except OSError: sys.exit(1)' "$1"
}
export work
reboot_under_lock() {
  rm -f "$work/held" "$work/go"
  (hold "$mnt/$1") &
  holder=$!
  wait_for "the lock" test -e "$work/held"
  control reboot "$2" >/dev/null
  echo touched >"$mnt/other"  # recovery is over when this has been done
}

reboot_under_lock kept 2
if try_lock "$mnt/kept"; then fail "another client got the lock after the reboot"; fi
touch "$work/go"
wait $holder || fail "the holder of a reclaimed lock got errno $?"
try_lock "$mnt/kept" || fail "the lock was not given back"
[ "$(cat "$export/kept")" = "$(printf 'data\nmore')" ] || fail "what was written under the lock"

reboot_under_lock lost 0
touch "$work/go"
status=0
wait $holder || status=$?
[ $status -eq 5 ] || fail "the holder of a lost lock got errno $status, not EIO"
try_lock "$mnt/lost" || fail "a lost lock is in the way"
expect_alive
