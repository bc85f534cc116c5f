#!/usr/bin/env bash
# With the Lua file of tests/lab/wireshark tshark takes version 2 of RPC-over-RDMA apart: headers, properties, and the RPC
# messages with what went by RDMA, in one pass and with no malformed mark.
. "$(dirname "$0")/lib.sh"
. "$here/dissection_lib.sh"
dissector=$here/../lab/wireshark/rpcrdma2.lua
grep -q 'with Lua' <<<"$(tshark --version 2>/dev/null)" || skip "tshark without Lua"
tshark=(tshark -X "lua_script:$dissector")

start_responder --rpcrdma 2 --inline 4096 --inline-most 65536 --segment 1448
mkdir "$work/source"
for size in 0 1 3 4097 16385 100001 1048577; do head -c $size /dev/urandom >"$work/source/$size"; done
mount_export "capture=$work/in.pcapng,rpcrdma=2"
cp -r "$work/source/." "$mnt"
unmount_export
mount_export "capture=$work/out.pcapng,rpcrdma=2,inline=65536"
diff -r "$work/source" "$mnt"
ls -l "$mnt" >/dev/null
ln -s a-target-of-odd-length "$mnt/link"
readlink "$mnt/link" >/dev/null
unmount_export

dissects "$work/in.pcapng" 'rpcordma2.version == 2' 'rpcordma2.propid == 1' 'nfs.opcode == 38 && rpc.msgtyp == 0' \
  'nfs.opcode == 38 && rpc.msgtyp == 1'
dissects "$work/out.pcapng" 'rpcordma2.opttype == 1' 'nfs.opcode == 25 && rpc.msgtyp == 1' 'nfs.opcode == 26 && rpc.msgtyp == 1' \
  'nfs.opcode == 27'
same 0 "$(frames "$work/in.pcapng" '_ws.lua.error')" "errors of the Lua file"
same 0 "$(frames "$work/out.pcapng" '_ws.lua.error')" "errors of the Lua file"

# holds CAPTURE FILTER: the data of these operations has the first bytes of a file.
holds() {
  "${tshark[@]}" -n -r "$1" -Y "$2" -T fields -e nfs.data 2>/dev/null | tr -d '\n,:' | python3 -c '
import sys
want = open(sys.argv[1], "rb").read()[:4096].hex()
sys.exit(0 if want in sys.stdin.read() else 1)' "$work/source/100001" || fail "the data of a file is not in $1"
}
holds "$work/in.pcapng" 'nfs.opcode == 38 && rpc.msgtyp == 0'
holds "$work/out.pcapng" 'nfs.opcode == 25 && rpc.msgtyp == 1'

# Two passes say the same, and a header that is cut short is marked.
same "$(frames "$work/out.pcapng" nfs)" "$(tshark=("${tshark[@]}" -2); frames "$work/out.pcapng" nfs)" "frames in two passes"
control fault malformed=bad-chunks:op=GETATTR:times=1 >/dev/null
mount_export "capture=$work/bad.pcapng,rpcrdma=2,noac"
ls -l "$mnt" >/dev/null || true
control clear >/dev/null
unmount_export
[ "$(frames "$work/bad.pcapng" 'rpcordma2.version == 2')" -gt 0 ] || fail "nothing of version 2 where a header is wrong"
same 0 "$(frames "$work/bad.pcapng" '_ws.lua.error')" "errors of the Lua file where a header is wrong"
