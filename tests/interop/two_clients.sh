#!/usr/bin/env bash
# Two clients of different make on one export of knfsd, in the guest: the kernel's client and nfsrdma, each with
# three processes that work on the same objects at random, against the model of tests/mount/two_daemons.sh.
# Usage: two_clients.sh siw|rxe NETDEV PATH
# Without the kind `blocks`: README.md says what the kernel's client shows there.
# Environment: NFSRDMA_SECONDS (20), NFSRDMA_SEED, NFSRDMA_ONLY, as there; NFSRDMA_STALENESS: how long attributes
# are believed, in seconds (2; 0: noac); NFSRDMA_MOUNT_OPTIONS: more options of nfsrdma.
. "$(dirname "$0")/lib.sh"
kind=$1 netdev=$2 path=$3 seconds=${NFSRDMA_SECONDS:-20} staleness=${NFSRDMA_STALENESS:-2}
only=${NFSRDMA_ONLY:-locked,names,attributes,appends,races,unlinked}
use_guest
into_guest nfsrdma
rm -rf "$guest_dir/share/model"
cp -r "$here/two_daemons_model" "$guest_dir/share/model"
cp "$here/control.py" "$guest_dir/share/model/"
case $staleness in
  0) options=noac ;;
  *) options=acregmin=1,acregmax=$staleness,acdirmin=1,acdirmax=$staleness ;;
esac
cat >"$guest_dir/share/two-clients" <<'E2'
# two-clients ADDRESS DEVICE PATH OPTIONS SECONDS ARGUMENTS: what this cell does in the guest.
set -euo pipefail
address=$1 device=$2 path=$3 options=$4 seconds=$5
shift 5
export LD_LIBRARY_PATH=/share/programs/lib
theirs=$(mktemp -d) ours=$(mktemp -d)
finish() {
  local status=$? folder
  for folder in "$ours" "$theirs"; do
    if mountpoint -q "$folder"; then umount "$folder" || status=1; fi
  done
  exit $status
}
trap finish EXIT
modprobe -a nfsv4 rpcrdma
rm -rf "/export$path"/*
mount -t nfs -o "vers=4.1,proto=rdma,port=20049,$options" "$address:$path" "$theirs"
/share/programs/nfsrdma -o "provider=verbs,device=$device,$options${NFSRDMA_MOUNT_OPTIONS:+,$NFSRDMA_MOUNT_OPTIONS}" "$address:$path" "$ours"
python3 /share/model --seconds "$seconds" "$@" "/export$path" "$theirs" "$ours"
E2
address=$(guest_run "rdma-device $kind $netdev")
more=(--staleness "$staleness" --only "$only" ${NFSRDMA_SEED:+--seed "$NFSRDMA_SEED"})
GUEST_PATIENCE=$((seconds + 400)) guest_run \
  "NFSRDMA_MOUNT_OPTIONS=${NFSRDMA_MOUNT_OPTIONS:-} bash /share/two-clients $address ${kind}_$netdev $path $options $seconds ${more[*]}" >"$work/model.log" 2>&1 ||
  fail "$(cat "$work/model.log")"
cat "$work/model.log"
