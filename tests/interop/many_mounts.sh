#!/usr/bin/env bash
# Linux siw may overlook the first message of a connection, until more comes: 200 mounts in a row,
# none of which stalls. Prints how many needed the provider's probe.
# NFSRDMA_MOUNTS changes the number. Usage: many_mounts.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
use_knfsd "$1" "$2"
mounts=${NFSRDMA_MOUNTS:-200}
probed=0 peer_probes=0

for n in $(seq "$mounts"); do
  mount_points=() mount_pids=()
  mount_export
  ls "$mnt" >/dev/null
  unmount_export
  count=$(counter_at_end iwarp_peer_probes)
  same 1 "$(counter_at_end connect_attempts)" "attempts to connect, mount $n"
  [ "$count" = 0 ] || probed=$((probed + 1))
  peer_probes=$((peer_probes + count))
done
echo "$mounts mounts, $probed of them probed the server, $peer_probes times in all"
