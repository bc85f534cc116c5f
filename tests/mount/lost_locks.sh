#!/usr/bin/env bash
# On a server with mandatory locks their holder reads and writes all the same, in every way there is;
# and when the server has revoked them it gets EIO, never a success (RFC 8881 sections 8.2.5, 8.5).
. "$(dirname "$0")/lib.sh"
start_responder --mandatory-locks --lease 5
head -c 40960 /dev/zero >"$export/file"
mount_export
mount_export "" "$work/second"
timeout 100 python3 "$here/lost_locks.py" "$mnt" "$work/second" \
  "$here/control.py" "$work/control" revoke-locks || fail "see above"
same 0 "$(counter opens_lost)" "open files that were lost"
grep -q 'locks of process [0-9]* on inode [0-9]* are lost' "$work/mount0.log" ||
  fail "no line in the log names the file and the process"
