#!/usr/bin/env bash
# What is sent to NFS-Ganesha, as capture= records it, dissects in tshark: no malformed mark, no call
# without its reply, and neither side breaks a rule that nfsrdma-lab lint knows.
. "$(dirname "$0")/../../mount/lib.sh"
. "$here/../interop/ganesha/server.sh"
need_ganesha vfs
command -v tshark >/dev/null || skip "no tshark"
start_ganesha vfs
mount_export "capture=$work/capture.pcapng"
head -c 3000000 /dev/urandom >"$work/data"
cp "$work/data" "$mnt/data"
dd if="$mnt/data" of="$work/back" bs=1M iflag=direct 2>/dev/null
cmp "$work/data" "$work/back"
mkdir "$mnt/dir"
ln -s target "$mnt/link"
ls -l "$mnt" >/dev/null
rm -r "$mnt/dir" "$mnt/link" "$mnt/data"
unmount_export

dissect() { tshark -n -r "$work/capture.pcapng" "$@" 2>/dev/null; }
frames() { dissect -Y "$1" | wc -l; }
same 0 "$(frames _ws.malformed)" "malformed frames"
# Callbacks are a protocol of their own to tshark: Ganesha 9 tries the callback channel with CB_NULL.
same 0 "$(frames 'rpc && !nfs && !nfs.cb')" "RPC that is no NFS"
calls=$(dissect -Y 'rpc.msgtyp == 0' -T fields -e rpc.xid | tr ',' '\n' | wc -l)
replies=$(dissect -Y 'rpc.msgtyp == 1' -T fields -e rpc.xid | tr ',' '\n' | wc -l)
[ "$calls" -gt 20 ] || fail "only $calls calls"
same "$calls" "$replies" "replies"
for operation in 53 25 38 42; do
  [ "$(frames "nfs.opcode == $operation")" -gt 0 ] || fail "no operation $operation"
done
[ ! -x "$NFSRDMA_BIN/nfsrdma-lab" ] || "$NFSRDMA_BIN/nfsrdma-lab" lint "$work/capture.pcapng" || fail "a rule is broken"
