#!/usr/bin/env bash
# port=0 asks the server's rpcbind, as nfs(5) says: for TCP and for RDMA, and what is said when there
# is none, when it knows no NFS, and when it is silent. In a network of its own, for port 111.
if [ -z "${NFSRDMA_OWN_NETWORK:-}" ]; then
  unshare -n true 2>/dev/null || { echo "SKIPPED: no network namespace can be made"; exit 77; }
  NFSRDMA_OWN_NETWORK=1 exec unshare -n "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
ip link set lo up 2>/dev/null || python3 - <<'PY'
import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x49))  # SIOCSIFFLAGS: up, running
PY
start_responder
rdma=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$work/responder.out")
tcp=$(sed -n 's/^serving TCP on .*:\([0-9]*\)$/\1/p' "$work/responder.out")
echo data >"$export/file"

peer=
peer_is() {
  if [ -n "$peer" ]; then kill "$peer"; wait "$peer" 2>/dev/null || true; fi
  python3 "$here/rpcbind_peer.py" "$@" >"$work/peer.out" 2>"$work/peer.log" &
  peer=$!
  wait_for "the peer" grep -q ready "$work/peer.out"
}
try() { timeout 60 "$NFSRDMA_BIN/nfsrdma" -o "proto=$1,port=0" 127.0.0.1:/ "$mnt"; }

refused "127.0.0.1:111: it cannot be reached" try tcp
peer_is
refused "no NFS version 4 over TCP is registered" try tcp
refused "no NFS version 4 over RDMA is registered" try rdma
peer_is silent
refused "port=0 needs the server's rpcbind" try tcp
peer_is "tcp=$tcp" rdma6=1 "rdma=$rdma"
port=0
for NFSRDMA_PROTO in tcp rdma; do
  mount_export
  same data "$(cat "$mnt/file")" "a file by $NFSRDMA_PROTO"
  unmount_export
done
kill "$peer"
