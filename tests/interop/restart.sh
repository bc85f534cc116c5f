#!/usr/bin/env bash
# knfsd ends and starts again under a mount: the mount connects and makes its session anew, and what
# was written before is there. Usage: restart.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
use_knfsd "$1" "$2"
mount_export
echo before >"$mnt/before"
for i in 1 2 3; do
  guest_run "nfs-server restart" >/dev/null
  same before "$(cat "$mnt/before")" "file from before restart $i"
  echo "after $i" >"$mnt/after$i"
  same "after $i" "$(guest_run "cat /export$2/after$i")" "file from after restart $i"
done
[ "$(counter reconnects)" -ge 3 ] || fail "$(counter reconnects) reconnects"
same 1 "$(guest_run 'ls -d /proc/fs/nfsd/clients/*/ | wc -l')" "clients that knfsd knows"
