#!/usr/bin/env bash
# knfsd mounted in its own guest by way of a software RDMA device: the workload, as root; and an
# export for privileged ports, as an ordinary user. Usage: verbs_in_guest.sh siw|rxe NETDEV PATH BYTES
. "$(dirname "$0")/lib.sh"
kind=$1 netdev=$2 path=$3
export NFSRDMA_ENTRIES=${NFSRDMA_ENTRIES:-100000} NFSRDMA_BYTES=${NFSRDMA_BYTES:-$4}
use_guest
into_guest nfsrdma
mkdir -p "$guest_dir/share/workload/bin"
cp "$interop/workload.sh" "$guest_dir/share/workload/bin/"
many_at_server "$path" "$NFSRDMA_ENTRIES"
cat >"$guest_dir/share/verbs" <<'E2'
# verbs ADDRESS DEVICE PATH: what this cell does in the guest.
set -euo pipefail
address=$1 device=$2 path=$3
export LD_LIBRARY_PATH=/share/programs/lib NFSRDMA_TREE=/usr/share/perl5/Debconf
mnt=$(mktemp -d) reference=$(mktemp -d) stats=/tmp/stats.$$
finish() { if mountpoint -q "$mnt"; then fusermount3 -u "$mnt"; fi; }
trap finish EXIT

rm -rf "/export$path/workload"
/share/programs/nfsrdma -v -o "provider=verbs,device=$device,stats=$stats" "$address:$path" "$mnt"
mkdir "$mnt/workload"
NFSRDMA_MANY=$mnt/many bash /share/workload/bin/workload.sh "$mnt/workload" "$reference"
rm -r "$mnt/workload"
pkill -USR1 nfsrdma
for _ in $(seq 100); do grep -qs ^verbs_ $stats && break; sleep 0.1; done
grep -E '^(verbs_|remote_invalidations|local_invalidations|reconnects|bad_|error_replies)' $stats
fusermount3 -u "$mnt"

chown nobody "$mnt"
as_user() { setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all "$@"; }
as_user env "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" /share/programs/nfsrdma \
  -o "provider=verbs,device=$device" "$address:/secure" "$mnt"
as_user sh -c "echo mine >$mnt/$device; cat $mnt/$device; rm $mnt/$device"
as_user fusermount3 -u "$mnt"
E2
address=$(guest_run "rdma-device $kind $netdev")
GUEST_PATIENCE=800 guest_run "NFSRDMA_ENTRIES=$NFSRDMA_ENTRIES NFSRDMA_BYTES=$NFSRDMA_BYTES bash /share/verbs $address ${kind}_$netdev $path" >"$work/verbs.log"
cat "$work/verbs.log"
echo "$NFSRDMA_ENTRIES $NFSRDMA_BYTES" >"${NFSRDMA_SIZES:-/dev/null}"
same mine "$(tail -n 1 "$work/verbs.log")" "what an ordinary user reads"
for counter in reconnects bad_replies bad_messages error_replies; do
  grep -qx "$counter 0" "$work/verbs.log" || fail "$(grep "^$counter " "$work/verbs.log")"
done
