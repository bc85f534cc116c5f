#!/usr/bin/env bash
# An export for privileged ports, mounted by an ordinary user, who has none: over RDMA there are no
# ports to look at, over TCP knfsd refuses. Usage: secure.sh
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root, to become an ordinary user"
[ "$(stat -c %a /dev/fuse)" = 666 ] || skip "/dev/fuse is not open to ordinary users"
use_knfsd siw /secure
cp "$NFSRDMA_BIN/nfsrdma" "$work/nfsrdma"
mkdir "$work/user"
chown $ordinary_user:$ordinary_user "$work/user"
chmod 755 "$work"
as_user() {
  setpriv --reuid $ordinary_user --regid $ordinary_user --clear-groups --inh-caps=-all "$@"
}

as_user "$work/nfsrdma" -o "port=$port" 127.0.0.1:/secure "$work/user"
as_user sh -c "echo mine >'$work/user/file'; cat '$work/user/file'" >"$work/read" ||
  { as_user fusermount3 -u "$work/user"; fail "no use of the mount"; }
as_user fusermount3 -u "$work/user"
same mine "$(cat "$work/read")" "what the user reads"
same "$ordinary_user mine" "$(guest_run 'stat -c %u /export/secure/file; cat /export/secure/file' | paste -sd' ')" \
  "owner and content at the server"

refused NFS4ERR_PERM as_user "$work/nfsrdma" \
  -o "proto=tcp,port=$(guest_port 2049)" 127.0.0.1:/secure "$work/user"
