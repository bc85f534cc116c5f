#!/usr/bin/env bash
# What a capture can be: RoCEv2 packets, a ring of files, packets cut at a length; comments; and all of it from nfsrdmactl
# while the mount is in use.
. "$(dirname "$0")/lib.sh"
lab=$NFSRDMA_BIN/nfsrdma-lab
[ -x "$lab" ] || skip "no $lab"
command -v tshark >/dev/null || skip "no tshark"
standing=control=$work/own.sock
export NFSRDMA_OWN_CAPTURES=1
ctl() { timeout 60 "$NFSRDMA_BIN/nfsrdmactl" "$@"; }
# shown FILE FILTER FIELD
shown() { tshark -n -r "$1" -Y "$2" -T fields -e "$3" 2>/dev/null; }
malformed='_ws.malformed || _ws.short || _ws.expert.severity == "error"'

start_responder
mkdir "$work/source"
for size in 0 1 4095 20001 300003; do head -c $size /dev/urandom >"$work/source/$size"; done

# RoCEv2: lint and tshark take it for a wire, and convert finds every message and all data in it.
mount_export "capture=$work/roce.pcapng,capture_view=roce"
cp -r "$work/source/." "$mnt"
unmount_export
mount_export "capture=$work/roce-back.pcapng,capture_view=roce"
diff -r "$work/source" "$mnt"
unmount_export
for name in roce roce-back; do
  "$lab" lint "$work/$name.pcapng" >"$work/said" || fail "$name: $(head -n 5 "$work/said")"
  grep -q '^connection 1: .*roce' "$work/said" || grep -qi 'roce' "$work/said" || fail "lint says $(cat "$work/said")"
  "$lab" convert "$work/$name.pcapng" "$work/$name-rpc.pcapng" >"$work/said" || fail "$(cat "$work/said")"
  ! grep -q 'left out' "$work/said" || fail "convert of $name: $(cat "$work/said")"
  same "" "$(shown "$work/$name-rpc.pcapng" "$malformed" frame.number)" "malformed RPCs of $name"
  same "$(shown "$work/$name-rpc.pcapng" 'rpc.msgtyp == 0' frame.number | wc -l)" \
    "$(shown "$work/$name-rpc.pcapng" 'rpc.msgtyp == 1' frame.number | wc -l)" "calls and replies of $name"
  [ "$(shown "$work/$name.pcapng" rpcordma frame.number | wc -l)" -gt 10 ] || fail "tshark sees no RPC-over-RDMA in $name"
  [ "$(shown "$work/$name.pcapng" infiniband.cm.req frame.number | wc -l)" = 1 ] || fail "tshark sees no Connect Request in $name"
done
[ "$(shown "$work/roce-back.pcapng" 'infiniband.bth.opcode == 6' frame.number | wc -l)" -gt 0 ] || fail "no RDMA Write"
[ "$(shown "$work/roce.pcapng" 'infiniband.bth.opcode == 12' frame.number | wc -l)" -gt 0 ] || fail "no RDMA Read"
[ "$(shown "$work/roce-back.pcapng" 'frame.comment contains "was invalidated by the peer"' frame.number | wc -l)" -gt 0 ] ||
  fail "no comment on an invalidation"

# A ring: the newest of three files, each by itself good for lint and tshark.
head -c 5000000 /dev/urandom >"$work/large"
for view in wire rpc; do
  mount_export "capture=$work/ring-$view.pcapng,capture_view=$view,capture_ring=3,capture_size=1"
  cp "$work/large" "$mnt/large"
  unmount_export
  [ ! -e "$work/ring-$view.pcapng" ] || fail "a file that is none of the ring"
  for number in 0 1 2; do
    file=$work/ring-$view-$number.pcapng
    same 600 "$(stat -c %a "$file")" "mode of $file"
    [ "$(stat -c %s "$file")" -lt 4000000 ] || fail "$file has $(stat -c %s "$file") bytes"
    "$lab" lint "$file" >"$work/said" || fail "$file: $(head -n 5 "$work/said")"
  done
done
for number in 0 1 2; do
  same "" "$(shown "$work/ring-rpc-$number.pcapng" "$malformed" frame.number)" "malformed frames of file $number of the ring"
done
grep -q . <<<"$(shown "$work/ring-wire-1.pcapng" iwarp_mpa.req frame.number)" || fail "no startup frame in a file of the ring"
grep -q . <<<"$(shown "$work/ring-wire-1.pcapng" rpcordma frame.number)" || fail "a file of the ring is not dissected"

# While it is in use: each view, a ring, a snap length.
mount_export
ctl capture on "$work/cut.pcapng" "$work/own.sock" --snap=80 >/dev/null
refused "one is going on" ctl capture on "$work/other.pcapng" "$work/own.sock"
ctl drop "$work/own.sock" >/dev/null
cat "$mnt/large" >/dev/null
ctl capture off "$work/own.sock"
grep -qx 80 <<<"$(tshark -n -r "$work/cut.pcapng" -T fields -e frame.cap_len 2>/dev/null | sort -n | tail -n 1)" || fail "packets that are not cut"
grep -q '...' <<<"$(tshark -n -r "$work/cut.pcapng" -T fields -e frame.len 2>/dev/null | sort -n | tail -n 1)" || fail "no length of packets"
ctl capture on "$work/late.pcapng" "$work/own.sock" --view=roce --ring=2 --size=1 >/dev/null
ctl drop "$work/own.sock" >/dev/null
cat "$mnt/large" >/dev/null
ctl capture off "$work/own.sock"
grep -q . <<<"$(shown "$work/late-0.pcapng" infiniband frame.number)" || fail "no RoCEv2 in a capture that was begun later"
ctl capture on "$work/rpc.pcapng" "$work/own.sock" --view=rpc >/dev/null
stat "$mnt/1" >/dev/null
ls "$mnt" >/dev/null
touch "$mnt/new"
ctl capture off "$work/own.sock"
same "" "$(shown "$work/rpc.pcapng" "$malformed" frame.number)" "malformed RPCs"
grep -q . <<<"$(shown "$work/rpc.pcapng" 'nfs.opcode == 18' frame.number)" || fail "no OPEN in a capture of RPCs"
echo "a file that was here before" >"$work/none.pcapng"
chmod 600 "$work/none.pcapng"
refused "not understood" ctl capture on "$work/none.pcapng" "$work/own.sock" --view=all
same "a file that was here before" "$(cat "$work/none.pcapng")" "the file of a capture that was refused"
status=0
ctl capture on "$work/none.pcapng" "$work/own.sock" --ring=1 >/dev/null 2>&1 || status=$?
same 2 $status "a ring of one file"

# A connection is lost before an answer: the call is sent again, and says so. So does the answer to a caller that was killed.
ctl capture on "$work/again.pcapng" "$work/own.sock" --view=rpc >/dev/null
touch "$mnt/before"
control fault disconnect=before:op=CREATE:times=1 >/dev/null
mkdir "$mnt/made"
control fault delay=3000:op=CREATE:times=1 >/dev/null
mkdir "$mnt/late" &
late=$!
waits() { grep -q CREATE <<<"$(ctl waiting "$work/own.sock")"; }
wait_for "a request that waits" waits
kill -KILL $late
wait $late 2>/dev/null || true
wait_for "its answer" test -d "$export/late"
answered() { ! waits; }
wait_for "its end" answered
ctl capture off "$work/own.sock"
grep -q . <<<"$(shown "$work/again.pcapng" 'frame.comment contains "sent again"' frame.number)" || fail "no comment on what was sent again"
grep -q . <<<"$(shown "$work/again.pcapng" 'frame.comment contains "answer to a caller that had gone"' frame.number)" ||
  fail "no comment on an answer whose caller is gone: $(shown "$work/again.pcapng" frame.comment frame.comment)"
