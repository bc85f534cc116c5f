#!/usr/bin/env bash
# SIGKILL of the daemon: what fsync(2) or close(2) has answered is at the server, callers get an error instead of hanging,
# and the next mount goes on. sync(2) asks the server for nothing.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

# As the server does not answer, a sync(2) that waited for it would not end.
exec 5>"$mnt/gathered"
echo gathered >&5
same ok "$(control stop)" "stop"
# Of a file that is open: to open a directory asks the server (OPENDIR).
timeout 60 python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syncfs(5))' || fail "sync(2) waits for the server"
same ok "$(control continue)" "continue"

python3 - "$mnt" <<'PY'
import os, sys
for name in ("synced", "closed"):
    fd = os.open(f"{sys.argv[1]}/{name}", os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"small " + name.encode())
    os.pwrite(fd, b"large" * 40000, 100000)
    if name == "synced":
        os.fsync(fd)
    os.close(fd)
PY
exec 6>>"$mnt/synced"
{ kill -KILL "${mount_pids[0]}" && wait "${mount_pids[0]}"; } 2>/dev/null || true
mount_pids[0]=
for name in synced closed; do
  same "small $name 300000" "$(head -c 12 "$export/$name") $(stat -c %s "$export/$name")" "$name"
done
same ENOTCONN "$(errno_of "os.stat('$mnt/closed')")" "a caller after the end"
exec 5>&- 6>&- || true
fusermount3 -u "$mnt"

mount_export
for name in synced closed; do cmp "$export/$name" "$mnt/$name"; done
echo more >>"$mnt/closed"
same 300005 "$(stat -c %s "$export/closed")" "appended by the next mount"
