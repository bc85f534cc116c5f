#!/usr/bin/env bash
# The workload of the matrix on an export of the guest, whose server is emulated.
# Usage: workload_on_mount.sh TRANSPORT PATH BYTES
. "$(dirname "$0")/lib.sh"
export NFSRDMA_ENTRIES=${NFSRDMA_ENTRIES:-100000} NFSRDMA_BYTES=${NFSRDMA_BYTES:-$3}
use_knfsd "$1" "$2"
many_at_server "$2" "$NFSRDMA_ENTRIES"
mount_export
mkdir "$mnt/workload" "$work/reference"
NFSRDMA_MANY=$mnt/many "$interop/workload.sh" "$mnt/workload" "$work/reference"
rm -r "$mnt/workload"
