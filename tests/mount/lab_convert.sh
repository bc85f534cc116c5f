#!/usr/bin/env bash
# nfsrdma-lab convert: a capture of the wire, iWARP or TCP, becomes whole RPCs that one pass of tshark takes apart with no
# malformed mark, version 2 and odd lengths included, as the second view that the product records itself.
. "$(dirname "$0")/lib.sh"
. "$here/dissection_lib.sh"
tshark=(tshark)
[ -x "$NFSRDMA_BIN/nfsrdma-lab" ] || skip "no $NFSRDMA_BIN/nfsrdma-lab"
life_of_a_mount=('nfs.opcode == 42' 'nfs.opcode == 43' 'nfs.opcode == 44')  # EXCHANGE_ID to DESTROY_SESSION

start_responder --delegations write --segment 1448
mkdir "$work/source"
for size in 0 1 3 4097 16385 100001 1048577; do head -c $size /dev/urandom >"$work/source/$size"; done

# converted NAME OPTIONS: what a mount does, recorded on the wire and converted.
converted() {
  local name=$1
  mount_export "capture=$work/$name.wire,$2"
  mkdir "$mnt/$name"
  cp -r "$work/source/." "$mnt/$name"
  ln -s a-target-of-odd-length "$mnt/$name/link"
  unmount_export
  mount_export "capture=$work/$name-back.wire,$2"
  diff -r "$work/source" "$mnt/$name" | grep -v 'Only in .*: link' || true
  same a-target-of-odd-length "$(readlink "$mnt/$name/link")" "symbolic link"
  exec 7<"$mnt/$name/3"
  echo changed >"$export/$name/3"
  control recall >/dev/null
  exec 7<&-
  unmount_export
  local part
  for part in "$name" "$name-back"; do
    "$NFSRDMA_BIN/nfsrdma-lab" convert "$work/$part.wire" "$work/$part.pcapng" >"$work/$part.said"
    ! grep 'left out\|do not decode' "$work/$part.said" || fail "messages are missing"
    dissects "$work/$part.pcapng" "${life_of_a_mount[@]}"
    all_answered "$work/$part.pcapng"
    same 600 "$(stat -c %a "$work/$part.pcapng")" "mode"
  done
  dissects "$work/$name.pcapng" 'nfs.opcode == 38'
  dissects "$work/$name-back.pcapng" 'nfs.opcode == 25' 'nfs.opcode == 26' 'nfs.opcode == 27'
}
# holds CAPTURE FILTER FILE: the data of these operations, in order, has the first bytes of FILE.
holds() {
  tshark -n -r "$1" -Y "$2" -T fields -e nfs.data 2>/dev/null | tr -d '\n,:' | python3 -c '
import sys
want = open(sys.argv[1], "rb").read()[:4096].hex()
sys.exit(0 if want in sys.stdin.read() else 1)' "$3" || fail "the data of $3 is not in $1"
}

if [ "$NFSRDMA_PROTO" = tcp ]; then
  converted plain noac
else
  converted one noac,inline=4096
  converted two noac,rpcrdma=2
  holds "$work/two-back.pcapng" 'nfs.opcode == 25 && rpc.msgtyp == 1' "$work/source/100001"
  holds "$work/one.pcapng" 'nfs.opcode == 38 && rpc.msgtyp == 0' "$work/source/100001"
fi

# A file that is no capture is refused, and so is writing over what is read.
echo nonsense >"$work/nonsense"
status=0
"$NFSRDMA_BIN/nfsrdma-lab" convert "$work/nonsense" "$work/out.pcapng" 2>"$work/said" || status=$?
same 3 $status "a file that is no capture"
status=0
one=$(ls "$work"/*-back.wire | head -n 1)
"$NFSRDMA_BIN/nfsrdma-lab" convert "$one" "$one" 2>"$work/said" || status=$?
same 3 $status "over itself"
[ -s "$one" ] || fail "the capture was overwritten"
