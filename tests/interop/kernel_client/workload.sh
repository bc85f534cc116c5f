#!/usr/bin/env bash
# The workload of the matrix by the kernel's client in the guest, on the responder of this machine.
# Usage: workload.sh siw|tcp ENTRIES BYTES
. "$(dirname "$0")/lib.sh"
export NFSRDMA_ENTRIES=${NFSRDMA_ENTRIES:-$2} NFSRDMA_BYTES=${NFSRDMA_BYTES:-$3}
serve_kernel "$1"
mount_kernel "$kernel_port"
cp "$interop/workload.sh" "$jobs/"
mkdir "$export/workload"
GUEST_PATIENCE=800 guest_run "NFSRDMA_ENTRIES=$NFSRDMA_ENTRIES NFSRDMA_BYTES=$NFSRDMA_BYTES \
  NFSRDMA_TREE=/usr/share/perl5/Debconf bash /share/kernel/workload.sh $there/workload \$(mktemp -d)" || fail "see above"
echo "$NFSRDMA_ENTRIES $NFSRDMA_BYTES" >"${NFSRDMA_SIZES:-/dev/null}"
unmount_kernel || fail "the guest does not unmount"
same "" "$(ls -A "$export/workload")" "what is left at the server"
for name in bad_messages bad_calls; do
  same 0 "$(server_counter $name)" "$name"
done
