#!/usr/bin/env bash
# Whatever the server does, an unmount, a signal or an abort ends the daemon in bounded time.
set -euo pipefail
[ -c /dev/fuse ] || { echo "no /dev/fuse"; exit 77; }
command -v fusermount3 >/dev/null || { echo "no fusermount3"; exit 77; }
exec python3 "$(dirname "$0")/unmount_always_ends.py" "${NFSRDMA_BIN:?directory of the programs}" \
  "${NFSRDMA_PROTO:-rdma}"
