#!/usr/bin/env bash
# An RDMA device is removed while a mount in the guest uses it: the removal ends, the daemon says so
# and tries again, and the mount goes on when the device is back. Usage: removal.sh siw|rxe NETDEV PATH
. "$(dirname "$0")/lib.sh"
kind=$1 netdev=$2 path=$3
use_guest
into_guest nfsrdma
cat >"$guest_dir/share/hold" <<'E2'
# Holds a file open, and uses it when it is told to: hold FILE, then lines on standard input.
import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_TRUNC)
for line in sys.stdin:
    os.write(file, line.encode())
    os.fsync(file)
    print("written", line, end="", flush=True)
E2
cat >"$guest_dir/share/removal" <<'E2'
# removal KIND NETDEV PATH: what this cell does in the guest.
set -euo pipefail
kind=$1 netdev=$2 path=$3 device=$1_$2
export LD_LIBRARY_PATH=/share/programs/lib
address=$(rdma-device "$kind" "$netdev")
mnt=$(mktemp -d) log=$(mktemp)
said() { grep -q "$1" "$log"; }
await() {
  for ((i = 0; i < 600; ++i)); do
    if "$@"; then return; fi
    sleep 0.1
  done
  cat "$log"
  echo "waited in vain: $*"
  exit 1
}
finish() { if mountpoint -q "$mnt"; then fusermount3 -uz "$mnt"; fi; }
trap finish EXIT

/share/programs/nfsrdma -f -o "provider=verbs,device=$device" "$address:$path" "$mnt" >"$log" 2>&1 &
daemon=$!
await mountpoint -q "$mnt"
coproc user { exec python3 /share/hold "$mnt/held"; }
echo before >&"${user[1]}"
read -r line <&"${user[0]}"

timeout 30 rdma link delete "$device" || { cat "$log"; echo "the device cannot be removed"; exit 1; }
# Of newer kernels' knfsd, on the same device, the end of the connection may come first.
await said 'the RDMA device was removed\|closed by the peer'
echo meanwhile >&"${user[1]}"
await said "$device is not here"
if read -r -t 0.1 line <&"${user[0]}"; then echo "written without a device: $line"; exit 1; fi
rdma-device "$kind" "$netdev"
read -r -t 60 line <&"${user[0]}"
await said "connected again"
eval "exec ${user[1]}>&-"
wait "$user_PID"
fusermount3 -u "$mnt"
wait $daemon
echo "at the server: $(paste -sd' ' "/export$path/held")"
rm "/export$path/held"
E2
guest_run "bash /share/removal $kind $netdev $path" >"$work/removal.log" 2>&1 || fail "see removal.log"
same "at the server: before meanwhile" "$(tail -n 1 "$work/removal.log")" "what was written"
