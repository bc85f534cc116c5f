#!/usr/bin/env bash
# The options sync and noac: what write(2) has answered is on the server's stable storage, and close(2) and fsync(2) have
# nothing left to do.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export sync
mount_export noac "$work/noac"

for at in "$mnt" "$work/noac"; do
  commits=$(served COMMIT)
  python3 - "$at/file" "$export/file" <<'PY'
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
expected = b""
for text in (b"small ", b"more ", b"large " * 50000):
    os.write(fd, text)
    expected += text
    with open(sys.argv[2], "rb") as served:
        if served.read() != expected:
            sys.exit(f"after a write of {len(text)} bytes")
os.fsync(fd)
os.close(fd)
PY
  same "$commits" "$(served COMMIT)" "COMMIT"
done
