#!/usr/bin/env bash
# An export for privileged ports (secure, which is exports(5)'s default), mounted by an ordinary
# user, who has none: over RDMA knfsd does not look at ports, over TCP it refuses. From here and, by
# both providers, in the guest. Usage: secure.sh
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

into_guest nfsrdma
cat >"$guest_dir/share/secure" <<'E2'
# secure ADDRESS: what this cell does in the guest.
set -euo pipefail
mnt=$(mktemp -d)
finish() { if mountpoint -q "$mnt"; then fusermount3 -u "$mnt"; fi; }
trap finish EXIT
chown nobody "$mnt"
as_user() { setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all "$@"; }
for provider in iwarp verbs; do
  as_user env LD_LIBRARY_PATH=/share/programs/lib /share/programs/nfsrdma \
    -o "provider=$provider,nocrc" "$1:/secure" "$mnt"
  as_user sh -c "echo $provider >$mnt/$provider; cat $mnt/$provider"
  as_user fusermount3 -u "$mnt"
  stat -c '%U' "/export/secure/$provider"
done
E2
address=$(guest_run "rdma-device siw eth0")
same "iwarp nobody verbs nobody" "$(guest_run "bash /share/secure $address" | paste -sd' ')" \
  "what the user reads in the guest, and who owns it"

refused NFS4ERR_PERM as_user "$work/nfsrdma" \
  -o "proto=tcp,port=$(guest_port 2049)" 127.0.0.1:/secure "$work/user"
