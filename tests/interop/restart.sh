#!/usr/bin/env bash
# knfsd ends and starts again under a mount: the mount connects and makes its session anew, reclaims
# what it has open in the grace period, and nothing written before is lost.
# Usage: restart.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
use_knfsd "$1" "$2"
mount_export
exec 7>"$mnt/held"
echo before >&7
for i in 1 2; do
  guest_run "END_GRACE=no GRACE=10 nfs-server restart" >/dev/null
  echo "after $i" >&7
  same before "$(head -n 1 "$mnt/held")" "file from before restart $i"
  echo "new $i" >"$mnt/new$i"
  same "new $i" "$(guest_run "cat /export$2/new$i")" "file from after restart $i"
done
exec 7>&-
same "before after 1 after 2" "$(guest_run "paste -sd' ' /export$2/held")" "file held open"
[ "$(counter reconnects)" -ge 2 ] || fail "$(counter reconnects) reconnects"
same 0 "$(counter opens_lost)" "open files lost"
same 1 "$(guest_run 'ls -d /proc/fs/nfsd/clients/*/ | wc -l')" "clients that knfsd knows"
