#!/usr/bin/env bash
# knfsd speaks version 1 of RPC-over-RDMA: rpcrdma=2 tells it, rpcrdma=auto goes on with version 1 on the same
# connection. Usage: version.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
use_knfsd "$1" "$2"
refused "it speaks versions 1 to 1" "$NFSRDMA_BIN/nfsrdma" -f \
  -o "proto=$NFSRDMA_PROTO,port=$port,$standing,rpcrdma=2" "127.0.0.1:$exported" "$mnt"
mount_export rpcrdma=auto
same 1 "$(counter received_error)" "ERR_VERS"
same 1 "$(counter rpcrdma_version)" "version"
same 1 "$(counter connections)" "connections"
head -c 300000 /dev/urandom >"$work/data"
cp "$work/data" "$mnt/data"
same "$(sha256sum <"$work/data")" "$(guest_run "sha256sum </export$2/data")" "what the server has"
rm "$mnt/data"
