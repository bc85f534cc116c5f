#!/usr/bin/env bash
# Callbacks of knfsd over the RDMA connection: a client that holds a delegation is called back when
# somebody else writes, a local program of the server or another mount. The recall is answered,
# knfsd is content with the answer, and whoever waits goes on. A mount of nfsrdma holds none.
# Usage: recall.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
client=$NFSRDMA_BIN/nfsrdma-recall-client
[ -x "$client" ] || skip "no $client"
use_knfsd "$1" "$2"

# hold N: a client with a delegation on "file".
hold() {
  "$client" 127.0.0.1 "$port" "$2" file >"$work/client$1.log" 2>&1 &
  holder=$!
  wait_for "the delegation" grep -q '^delegated$' "$work/client$1.log"
}
# recalled N: it was called back, and has ended well.
recalled() {
  wait "$holder" || fail "the client that held the delegation: $(tail -n 1 "$work/client$1.log")"
  same "delegated recalled returned" "$(paste -sd' ' "$work/client$1.log")" "course of events"
}

guest_run "echo one >/export$2/file"
hold 1 "$2"
guest_run "echo two >>/export$2/file"
recalled 1

mount_export
hold 2 "$2"
echo three >>"$mnt/file"
recalled 2
same "one two three" "$(guest_run "paste -sd' ' /export$2/file")" "the file at the server"
same "one two three" "$(paste -sd' ' "$mnt/file")" "the file here"
# knfsd gives none to who wants none, and so has nothing to recall.
guest_run "echo four >>/export$2/file"
same 0 "$(counter callbacks)" "callbacks of the mount"
