#!/usr/bin/env bash
# What nfsrdmactl changes in a running mount: caches are dropped, the wire is recorded for a while; and requests
# are shown as they end.
own_sockets=yes
. "$(dirname "$0")/lib.sh"
[ -x "$NFSRDMA_BIN/nfsrdmactl" ] || skip "no $NFSRDMA_BIN/nfsrdmactl"
standing=actimeo=600,control=$work/own.sock
export NFSRDMA_OWN_CAPTURES=1
socket=$work/own.sock
ctl() { timeout 60 "$NFSRDMA_BIN/nfsrdmactl" "$@"; }
# requests OPERATIONS: "LOOKUP|GETATTR".
requests() { ctl counters "$socket" | awk -v names="^nfs_($1)_requests$" '$1 ~ names { sum += $2 } END { print sum + 0 }'; }
# since OPERATIONS COMMAND...: requests that the command needed.
since() {
  local operation=$1 before
  shift
  before=$(requests "$operation")
  "$@" >/dev/null
  echo $(($(requests "$operation") - before))
}

start_responder
echo served >"$export/file"
head -c 20000 /dev/zero >"$export/large"  # more than comes with its OPEN
mount_export

# drop: what was remembered is asked for, once.
stat "$mnt/large" >/dev/null
cat "$mnt/large" >/dev/null
same 0 "$(since "GETATTR|LOOKUP" stat "$mnt/large")" "requests about a file that is known"
same 0 "$(since READ cat "$mnt/large")" "READs of a file whose pages are cached"
grep -qx '[1-9][0-9]* files are forgotten' <<<"$(ctl drop "$socket")" || fail "drop"
[ "$(since "GETATTR|LOOKUP" stat "$mnt/large")" -gt 0 ] || fail "nothing was asked about a file after drop"
same 0 "$(since "GETATTR|LOOKUP" stat "$mnt/large")" "requests after that"
same 1 "$(since READ cat "$mnt/large")" "READs after drop"
same 0 "$(since READ cat "$mnt/large")" "READs after that"
refused "name the mount" ctl drop
# What was written and is not at the server yet stays.
exec 9>"$mnt/new"
echo written >&9
grep -q '"done":"[1-9][0-9]* files are forgotten"' <<<"$(ctl drop --json "$socket")" || fail "drop --json"
same 8 "$(stat -c %s "$mnt/new")" "the size of a file that is being written"
exec 9>&-
same written "$(cat "$export/new")" "what was written before drop"

# trace --follow: what ends from now on, each once.
ctl trace --follow --interval=100 --count=60 "$socket" >trace.out &
follower=$!
number=0
sees_it() {
  number=$((number + 1))
  touch "$mnt/none$number"
  grep -q 'create of inode' trace.out
}
wait_for "a request that ends" sees_it
kill $follower
wait $follower || true
! grep -q ' READ xid' trace.out || fail "what had ended before: $(cat trace.out)"
same "" "$(grep -o 'request [0-9]*: create' trace.out | sort | uniq -d)" "requests that are shown twice"
grep -q ' OPEN xid .* NFS4_OK$' trace.out || fail "no request to the server: $(cat trace.out)"
ctl trace --follow --json --interval=1 --count=2 "$socket" | { ! grep -v '^{"mount_point":.*,"request":".*"}$'; } || fail "trace --follow --json"

# top --json: an array a look.
ctl top --json --interval=100 --count=2 "$socket" | python3 -S -c 'import json, sys
looks = [json.loads(line) for line in sys.stdin]
assert len(looks) == 2 and all("operations" in mount for look in looks for mount in look), looks' || fail "top --json"

# capture: begins with a new connection, and ends without one.
state() { ctl list --json "$socket" | sed 's/.*"capture":"\([a-z]*\)".*/\1/'; }
same off "$(state)" "a capture that is not on"
connections=$(ctl counters "$socket" | sed -n 's/^reconnects //p')
same "recording, from a new connection on" "$(ctl capture on "$work/wire.pcapng" "$socket")" "capture on"
same on "$(state)" "a capture that is on"
same 600 "$(stat -c %a "$work/wire.pcapng")" "the mode of the capture"
wait_for "a new connection" test "$(ctl counters "$socket" | sed -n 's/^reconnects //p')" = $((connections + 1))
echo recorded >"$mnt/recorded"
refused "one is going on" ctl capture on "$work/wire.pcapng" "$socket"
ctl capture off "$socket"
same off "$(state)" "a capture that has ended"
size=$(stat -c %s "$work/wire.pcapng")
echo unrecorded >"$mnt/unrecorded"
same "$size" "$(stat -c %s "$work/wire.pcapng")" "the size of a capture that has ended"
same $((connections + 1)) "$(ctl counters "$socket" | sed -n 's/^reconnects //p')" "connections after capture off"
if command -v tshark >/dev/null; then
  tshark -2 -n -r "$work/wire.pcapng" >wire.txt 2>wire.err || fail "tshark: $(cat wire.err)"
  grep -q 'V4 Call.*OPEN' wire.txt || fail "no OPEN in the capture: $(tail wire.txt)"
  ! grep -qi malformed wire.txt || fail "malformed: $(grep -i malformed wire.txt)"
  echo "the capture: dissected"
fi
# A file on the mount itself would have the program wait for itself.
refused "lies on this mount itself" ctl capture on "$mnt/wire" "$socket"
same served "$(cat "$mnt/file")" "a file after that"
same '"recording, from a new connection on"' "$(ctl capture --json on "$work/second.pcapng" "$socket" |
  sed 's/.*"done":\(.*\)}]$/\1/')" "capture on --json"
unmount_export
[ -s "$work/second.pcapng" ] || fail "no second capture"
