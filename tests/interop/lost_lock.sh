#!/usr/bin/env bash
# Reads and writes under a lock name its stateid on knfsd; and a holder whose client knfsd has expired,
# which drops its locks, hears that the lock is lost. Usage: lost_lock.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
. "$interop/lock_stateids.sh"
use_knfsd "$1" "$2"
lock_stateids_named
mount_export
# Of knfsd's clients the one that is there now: the other comes later.
expire=$(guest_run 'ls -d /proc/fs/nfsd/clients/*/' | tail -n 1)
mount_export "" "$work/second"
cat >"$work/expire" <<END
#!/usr/bin/env bash
set -euo pipefail
interop=$interop
. "\$interop/guest/guest.sh"
guest_use "$guest_dir"
guest_run "echo expire >${expire}ctl"
END
chmod +x "$work/expire"
i=$((${#mount_pids[@]} - 2))
timeout 110 python3 "$interop/lost_lock.py" "$mnt" "$work/second" "${mount_pids[i]}" "$work/expire" || fail "see above"
same 1 "$(counter locks_lost $i)" "locks that were lost"
same 0 "$(counter opens_lost $i)" "open files that were lost"
