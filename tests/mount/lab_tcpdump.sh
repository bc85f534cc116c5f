#!/usr/bin/env bash
# A capture of the network interface, not of the client: lint finds nothing in it and convert loses nothing, whole, from its
# middle on, and with frames missing.
. "$(dirname "$0")/lib.sh"
. "$here/dissection_lib.sh"
tshark=(tshark)
[ -x "$NFSRDMA_BIN/nfsrdma-lab" ] || skip "no $NFSRDMA_BIN/nfsrdma-lab"
command -v dumpcap >/dev/null && command -v editcap >/dev/null || skip "no dumpcap and editcap"
lab=$NFSRDMA_BIN/nfsrdma-lab

start_responder --delegations write --segment 1448
dumpcap -q -i lo -B 64 -f "tcp port $port" -w "$work/whole.pcapng" 2>"$work/dumpcap.out" &
dumpcap=$!
trap 'status=$?; kill $dumpcap 2>/dev/null || true; clean_up $status' EXIT
for _ in $(seq 200); do
  [ ! -s "$work/whole.pcapng" ] || break
  kill -0 $dumpcap 2>/dev/null || skip "no right to capture: $(tail -n 1 "$work/dumpcap.out")"
  sleep $between_looks
done
mkdir "$work/source"
for size in 0 1 3 4097 100001 3000003; do head -c $size /dev/urandom >"$work/source/$size"; done
mount_export noac
cp -r "$work/source" "$mnt/x"
control disconnect >/dev/null
diff -r "$work/source" "$mnt/x"
for i in $(seq 100); do echo "$i" >"$mnt/f$i"; done
rm -r "$mnt/x"
unmount_export
# The last packets are in the file when dumpcap ends: it is told to when it has the end of the connection.
ended() { tshark -n -r "$work/whole.pcapng" -Y 'tcp.flags.fin == 1' 2>/dev/null | awk 'END { exit NR < 4 }'; }
wait_for "the end of both connections in the capture" ended
kill -INT $dumpcap
wait $dumpcap || true

# clean FILE: no rule is broken.
clean() {
  local status=0
  "$lab" lint "$1" >"$work/said" || status=$?
  same 0 $status "what is wrong in $1: $(grep '^frame.*Seen' "$work/said" | head -n 3)"
}
clean "$work/whole.pcapng"
! grep -q 'were not tried' "$work/said" || fail "a whole capture has holes"
"$lab" convert "$work/whole.pcapng" "$work/rpc.pcapng" >"$work/said"
! grep 'left out\|do not decode' "$work/said" || fail "messages are missing"
dissects "$work/rpc.pcapng" 'nfs.opcode == 42' 'nfs.opcode == 44'

last=$(capinfos -Mc "$work/whole.pcapng" 2>/dev/null | sed -n 's/^Number of packets: *//p')
editcap -r "$work/whole.pcapng" "$work/middle.pcapng" "100-$last"
clean "$work/middle.pcapng"
grep -q 'were not tried' "$work/said" || fail "a capture from the middle of a connection counts as whole"
for at in 60 61 62 150 300; do
  editcap "$work/whole.pcapng" "$work/hole.pcapng" $at $((at + 70))
  clean "$work/hole.pcapng"
done
