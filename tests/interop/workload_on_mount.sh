#!/usr/bin/env bash
# The workload of the matrix on an export of the guest. Usage: workload_on_mount.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
use_knfsd "$1" "$2"
mount_export
mkdir "$mnt/workload" "$work/reference"
"$interop/workload.sh" "$mnt/workload" "$work/reference"
rm -r "$mnt/workload"
