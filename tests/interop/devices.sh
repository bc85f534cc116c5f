#!/usr/bin/env bash
# Which RDMA device a mount uses, in the guest, with siw as the side that connects: to the responder
# on this machine, by the route or by device=. And what happens when memory may not be locked. And what is recorded of a device,
# whose data no other program on its machine sees.
# Usage: devices.sh
. "$(dirname "$0")/lib.sh"
. "$interop/../mount/dissection_lib.sh"
tshark=(tshark)
use_guest
into_guest nfsrdma
start_responder
echo served >"$export/file"
cat >"$guest_dir/share/devices" <<'E2'
# devices PORT: what this cell does in the guest. The host is 10.0.2.2.
set -euo pipefail
port=$1
export LD_LIBRARY_PATH=/share/programs/lib
mnt=$(mktemp -d) stats=/tmp/devices.stats
ip link add devices0 type dummy
ip address add 10.0.2.77/32 dev devices0
ip link set devices0 up
rdma link add siw_devices0 type siw netdev devices0
finish() {
  if mountpoint -q "$mnt"; then fusermount3 -u "$mnt"; fi
  rdma link delete siw_devices0
  ip link delete devices0
}
trap finish EXIT

# used OPTIONS: mounts, and says which device or provider was used.
used() {
  rm -f $stats
  /share/programs/nfsrdma -f -o "provider=verbs,port=$port,stats=$stats$1" 10.0.2.2:/ "$mnt" &
  local daemon=$!
  for _ in $(seq 300); do mountpoint -q "$mnt" && break; sleep 0.1; done
  cat "$mnt/file"
  fusermount3 -u "$mnt"
  wait $daemon
  sed -n 's/^verbs_device_\([^ ]*\) 1$/by \1/p' $stats
}
# The first mount finds no entry for the server in the neighbour table, whose answer the kernel may miss at first.
ip neighbour flush all
used ""
used ,device=siw_devices0
used ,device=siw_eth0
used ,capture=/share/rpc.pcapng,capture_view=rpc
used ,capture=/share/roce.pcapng,capture_view=roce
! /share/programs/nfsrdma -o "port=$port,device=mlx5_0" 10.0.2.2:/ "$mnt"

chown nobody "$mnt"
as_user() { setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all "$@"; }
# used_by_user PROVIDER: mounts, if there is memory enough.
used_by_user() {
  as_user env "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" /share/programs/nfsrdma -f \
    -o "provider=$1,port=$port" 10.0.2.2:/ "$mnt" &
  local daemon=$!
  until as_user mountpoint -q "$mnt"; do kill -0 $daemon 2>/dev/null || return 0; sleep 0.1; done
  as_user cat "$mnt/file"
  as_user fusermount3 -u "$mnt"
  wait $daemon
  echo "by provider=$1"
}
ulimit -l 16384
used_by_user verbs
ulimit -l 64
used_by_user verbs
used_by_user auto
E2
guest_run "rdma-device siw eth0; modprobe dummy numdummies=0; bash /share/devices $port" \
  >"$work/devices.log" 2>&1 || fail "see devices.log"
same "served by siw_eth0 served by siw_devices0 served by siw_eth0 served by siw_eth0 served by siw_eth0 served by provider=verbs served by provider=auto" \
  "$(grep -E '^(served|by )' "$work/devices.log" | paste -sd' ')" "devices in turn"
said() { grep -q "$1" "$work/devices.log" || fail "nowhere: $1"; }
said "mlx5_0 is not here, .*siw_eth0 (10.0.2.15).*siw_devices0 (10.0.2.77)"
said "RLIMIT_MEMLOCK: .* credits instead of .*"
said "RLIMIT_MEMLOCK is 64 KiB, and .* needed: raise it"

# The mount from its begin to its end, and the file's data; as packets, too.
life=('nfs.opcode == 42' 'nfs.opcode == 43' 'nfs.opcode == 25' 'nfs.opcode == 44')
dissects "$guest_dir/share/rpc.pcapng" "${life[@]}" 'frame contains "served"'
same "$(frames "$guest_dir/share/rpc.pcapng" 'rpc.msgtyp == 0')" "$(frames "$guest_dir/share/rpc.pcapng" 'rpc.msgtyp == 1')" "calls and replies"
dissects "$guest_dir/share/roce.pcapng" infiniband.cm.req 'rpcordma && nfs.opcode == 42' 'frame contains "served"'
