#!/usr/bin/env bash
# The workload of the matrix on the project's own responder. Usage: workload_on_responder.sh rdma|tcp
export NFSRDMA_PROTO=$1
interop=$(cd "$(dirname "$0")" && pwd)
. "$interop/../mount/lib.sh"
export NFSRDMA_ENTRIES=${NFSRDMA_ENTRIES:-100000} NFSRDMA_BYTES=${NFSRDMA_BYTES:-1073741824}
start_responder
mount_export
mkdir "$mnt/workload" "$work/reference"
"$interop/workload.sh" "$mnt/workload" "$work/reference"
rm -r "$mnt/workload"
