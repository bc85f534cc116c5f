#!/usr/bin/env bash
# The kernel's client and nfsrdma side by side in the guest: the same work on the same export, by the
# same software RDMA device. Prints rates, their ratio, and what knfsd has counted for each.
# Usage: beside_kernel.sh siw|rxe NETDEV PATH
. "$(dirname "$0")/lib.sh"
kind=$1 netdev=$2 path=$3
use_guest
into_guest nfsrdma
cp "$interop/beside_kernel.py" "$guest_dir/share/"
address=$(guest_run "rdma-device $kind $netdev")
guest_run "modprobe -a nfsv4 rpcrdma; rm -rf /export$path/*"
GUEST_PATIENCE=800 guest_run "LD_LIBRARY_PATH=/share/programs/lib NFSRDMA_ROUNDS=${NFSRDMA_ROUNDS:-1} \
  python3 /share/beside_kernel.py $address ${kind}_$netdev $path" >"$work/table" 2>&1 || fail "$(tail -n 5 "$work/table")"
cat "$work/table"
same 9 "$(wc -l <"$work/table")" "lines of the table"
