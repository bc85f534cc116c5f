#!/usr/bin/env bash
# The workload of the matrix on an export of the guest. Usage: workload_on_mount.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
# The server is emulated; big.sh is about sizes.
export NFSRDMA_ENTRIES=${NFSRDMA_ENTRIES:-2000} NFSRDMA_BYTES=${NFSRDMA_BYTES:-67108864}
use_knfsd "$1" "$2"
mount_export
mkdir "$mnt/workload" "$work/reference"
"$interop/workload.sh" "$mnt/workload" "$work/reference"
rm -r "$mnt/workload"
