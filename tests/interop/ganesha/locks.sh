#!/usr/bin/env bash
# Locks on NFS-Ganesha: reads and writes under a lock name its stateid; a lock whose holder was away
# for longer than the lease is lost, and its holder hears of it; processes that open, lock and close one file
# are not in each other's way.
. "$(dirname "$0")/../../mount/lib.sh"
. "$here/../interop/ganesha/server.sh"
. "$here/../interop/lock_stateids.sh"
need_ganesha vfs
start_ganesha vfs
mount_export
mount_export "" "$work/second"
lock_stateids_named
timeout 60 python3 "$here/../interop/open_lock_close.py" "$mnt/busy" 100 || fail "see above"
same 0 "$(counter opens_lost)" "open files that were lost"
same 0 "$(counter locks_lost)" "locks that were lost"
timeout 110 python3 "$here/../interop/lost_lock.py" "$mnt" "$work/second" "${mount_pids[0]}" || fail "see above"
same 1 "$(counter locks_lost)" "locks that were lost"
same 0 "$(counter opens_lost)" "open files that were lost"
grep -q 'locks of process [0-9]* on inode [0-9]* are lost' "$work/mount0.log" ||
  fail "no line in the log names the file and the process"
