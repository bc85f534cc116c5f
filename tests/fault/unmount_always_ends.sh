#!/usr/bin/env bash
# Whatever the server does, an unmount, a signal or an abort ends the daemon in bounded time.
. "$(dirname "$0")/lib.sh"
python3 "$here/../fault/unmount_always_ends.py" "$NFSRDMA_BIN" "$NFSRDMA_PROTO" || fail "see above"
