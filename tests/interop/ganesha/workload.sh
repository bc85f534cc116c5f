#!/usr/bin/env bash
# The workload of the matrix on NFS-Ganesha over TCP: workload.sh vfs|mem
. "$(dirname "$0")/../../mount/lib.sh"
interop=$here/../interop
. "$interop/ganesha/server.sh"
backend=$1
need_ganesha "$backend"
start_ganesha "$backend"
mount_export
ganesha_log_mark
entries=100000
if [ "$backend" = mem ]; then  # what it is known for, see README.md
  entries=10000
  export NFSRDMA_BYTES=$ganesha_mem_file NFSRDMA_LARGEST=$ganesha_mem_file NFSRDMA_IGNORE="link_sizes atime_alone regrown"
fi
export NFSRDMA_ENTRIES=${NFSRDMA_ENTRIES:-$entries} NFSRDMA_BYTES=${NFSRDMA_BYTES:-1073741824}
mkdir "$mnt/workload" "$work/reference"
"$interop/workload.sh" "$mnt/workload" "$work/reference"
rmdir "$mnt/workload"
same 0 "$(counter bad_records)" "bad_records"
same 0 "$(counter payload_copies)" "payload_copies"
same 0 "$(counter reconnects)" "reconnects"
same "" "$(ganesha_log)" "what ganesha complained of"
unmount_export
