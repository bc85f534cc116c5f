#!/usr/bin/env bash
# Callbacks of knfsd over the RDMA connection: a client that holds a delegation is called back when
# another program writes, one of the server or of another mount. The recall is answered,
# knfsd is content with the answer, and what waits goes on. So it is with a mount of nfsrdma.
# Usage: recall.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
client=$NFSRDMA_BIN/nfsrdma-recall-client
[ -x "$client" ] || skip "no $client"
use_knfsd "$1" "$2"

# hold N: a client with a delegation on "fileN". knfsd gives none soon after a recall, for that file.
hold() {
  "$client" 127.0.0.1 "$port" "$exported" "file$1" >"$work/client$1.log" 2>&1 &
  holder=$!
  wait_for "the delegation" grep -q '^delegated$' "$work/client$1.log"
}
# recalled N: it was called back, and has ended well.
recalled() {
  wait "$holder" || fail "the client that held the delegation: $(tail -n 1 "$work/client$1.log")"
  same "delegated recalled closed" "$(grep -v "^\[" "$work/client$1.log" | paste -sd' ')" "course of events"
}

guest_run "echo one | tee /export$2/file1 >/export$2/file2"
hold 1
guest_run "echo two >>/export$2/file1"
recalled 1
same "one two" "$(guest_run "paste -sd' ' /export$2/file1")" "the first file"

mount_export
hold 2
echo two >>"$mnt/file2"
recalled 2
same "one two" "$(guest_run "paste -sd' ' /export$2/file2")" "the second file at the server"
same "one two" "$(paste -sd' ' "$mnt/file2")" "the second file here"

# The mount holds one itself: opens cost nothing, and what is written elsewhere is seen.
guest_run "echo one >/export$2/file3"
same one "$(cat "$mnt/file3")" "the third file here"
held=$(counter delegations)
[ "$held" -ge 1 ] || fail "knfsd has delegated nothing"
before=$(counter opens)
for _ in $(seq 10); do cat "$mnt/file3" >/dev/null; done
same "$before" "$(counter opens)" "opens that the server was asked for"
exec 5<"$mnt/file3"
guest_run "echo two >>/export$2/file3"
same "one two" "$(paste -sd' ' <&5)" "the third file, open meanwhile"
exec 5<&-
same "one two" "$(paste -sd' ' "$mnt/file3")" "the third file, opened again"
[ "$(counter delegations_recalled)" -ge 1 ] || fail "nothing was recalled"
[ "$(counter delegations_returned)" -ge 1 ] || fail "nothing was returned"
