#!/usr/bin/env bash
# The server's process is killed and started again, as it happens to an ordinary user who has no kernel
# handles and no stable storage: file handles go on to be good, and within the grace period of the new
# process a client gets back what it had open and locked.
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" -eq 0 ]; then
  command -v setpriv >/dev/null || skip "no setpriv"
  as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  chmod 755 "$work"
  chown 65534:65534 "$export"
  chmod 777 "$work"
fi
start_responder --lease 5
mount_export
mkdir "$mnt/directory"
echo data >"$mnt/directory/file"

# Has a file open and locked, and a half-written one; goes on when told to.
cat >"$work/user.py" <<'PY'
import fcntl, os, sys, time
mount, work = sys.argv[1:]
locked = open(mount + "/directory/file", "r+b", buffering=0)
fcntl.lockf(locked, fcntl.LOCK_EX, 10, 0)
written = open(mount + "/directory/written", "wb", buffering=0)
written.write(b"x" * 100_000)
written.flush()
nameless = open(mount + "/directory/nameless", "w+b", buffering=0)
os.remove(mount + "/directory/nameless")
nameless.write(b"still here")
open(work + "/ready", "w").close()
while not os.path.exists(work + "/go"):
    time.sleep(0.02)
locked.seek(0, os.SEEK_END)
locked.write(b"more\n")
os.fsync(locked.fileno())
written.write(b"y" * 100_000)
os.fsync(written.fileno())
nameless.seek(0)
assert nameless.read() == b"still here"
fcntl.lockf(locked, fcntl.LOCK_UN, 10, 0)
PY
python3 "$work/user.py" "$mnt" "$work" &
user=$!
wait_for "the user of the mount" test -e "$work/ready"

kill -9 "$responder_pid"
wait "$responder_pid" 2>/dev/null || true
rm -f "$work/control"
at_rdma_port=$rdma_port at_tcp_port=$tcp_port
start_responder --lease 5 --grace 5
echo touched >"$mnt/directory/other"  # recovery is over when this has been done
python3 -c 'import fcntl, sys
try: fcntl.lockf(open(sys.argv[1], "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
except OSError: sys.exit(0)
sys.exit(1)' "$mnt/directory/file" || fail "another process got the lock"
touch "$work/go"
wait $user || fail "a user of the mount did not survive its server"
[ "$(cat "$export/directory/file")" = "$(printf 'data\nmore')" ] || fail "what was written under the lock"
[ "$(tr -d '\n' <"$export/directory/written" | sed 's/xx*/x/; s/yy*/y/')" = xy ] || fail "the half-written file"
[ "$(stat -c %s "$export/directory/written")" -eq 200000 ] || fail "the size of the half-written file"
expect_alive
