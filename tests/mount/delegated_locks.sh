#!/usr/bin/env bash
# Locks under a write delegation cost no request, hold between the processes of this mount, and
# stand at the server before another client gets the file: delegated_locks.py says how.
. "$(dirname "$0")/lib.sh"
start_responder --delegations write
echo content >"$export/file"
mount_export
mount_export "" "$work/second"
timeout 100 python3 "$here/delegated_locks.py" "$mnt" "$work/second" "$work/mount0.stats" \
  "${mount_pids[0]}" || fail "see above"
same 0 "$(counter opens_lost)" "open files that were lost"
same 0 "$(counter opens_lost 1)" "open files that were lost at the other mount"
