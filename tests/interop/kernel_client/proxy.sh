#!/usr/bin/env bash
# nfsrdma-lab proxy between the kernel's client in the guest and a server that has not been changed either: the responder, or
# knfsd of the same guest. Data goes through, faults of the proxy are seen, and its captures say who breaks which rule.
# With rxe, whose packets do not leave the guest, the proxy runs there, too, and both of its ends are devices.
# Usage: proxy.sh siw|tcp|rxe responder|knfsd [ENTRIES BYTES]
. "$(dirname "$0")/lib.sh"
transport=$1 server=$2
lab=$NFSRDMA_BIN/nfsrdma-lab
[ -x "$lab" ] || skip "no $lab"
use_kernel_client
kernel_proto=rdma
case $transport in
siw) carrier=iwarp ;;
tcp) carrier=tcp kernel_proto=tcp ;;
rxe)
  [ "$server" = knfsd ] || fail "the responder is not in the guest"
  into_guest nfsrdma-lab
  carrier=verbs kernel_server=$(guest_run "rdma-device rxe dummy0")
  ;;
*) fail "transport $transport" ;;
esac
case $server in
responder)
  start_responder --no-crc --delegations write
  behind=$rdma_port path=/
  [ $carrier = iwarp ] || behind=$tcp_port
  ;;
knfsd)
  guest_run "find /export/ext4 -mindepth 1 ! -name lost+found ! -path '/export/ext4/many*' -delete"
  behind=$(guest_port 20049) path=/ext4
  [ $carrier = iwarp ] || behind=$(guest_port 2049)
  ;;
esac
captures=$work
if [ $carrier = verbs ]; then
  captures=$jobs
  cp "$(dirname "$0")/in_guest_proxy" "$jobs/"
  guest_run "bash /share/kernel/in_guest_proxy start verbs:$kernel_server:0 verbs:$kernel_server:20049" >"$work/proxy.out"
  tell() { guest_run "bash /share/kernel/in_guest_proxy tell $*"; }
  end_proxy() { guest_run "bash /share/kernel/in_guest_proxy end"; }
else
  "$lab" proxy "$carrier:127.0.0.1:0" "$carrier:127.0.0.1:$behind" --no-crc --control "$work/proxy" \
    --capture-client "$work/client.pcapng" --capture-rpc "$work/rpc.pcapng" >"$work/proxy.out" 2>"$work/proxy.log" &
  proxy_pid=$!
  tell() { "$lab" fault "$work/proxy" "$@"; }
  end_proxy() { kill "$proxy_pid"; wait "$proxy_pid"; proxy_pid=; }
fi
wait_for "the proxy" grep -q '^listening on' "$work/proxy.out"
mount_kernel "$(sed -n 's/^listening on .*://p' "$work/proxy.out")" acregmin=0,acregmax=0,acdirmin=0,acdirmax=0 $path
happened() { grep -q "^fault_.* [1-9]" <<<"$(tell stats)"; }

# same_tree: the line that compares the copies of the tree with it.
same_tree='for file in tree/*; do cmp $file /usr/share/perl5/Debconf/${file#tree/}; done'
GUEST_PATIENCE=400 in_mount "head -c 1000003 /dev/urandom >/tmp/data; cp /tmp/data data; mkdir tree; cp /usr/share/perl5/Debconf/*.pm tree
  ln -s target-of-odd-length link; cmp data /tmp/data; $same_tree; readlink link"
GUEST_PATIENCE=400 in_mount "echo 3 >/proc/sys/vm/drop_caches; cmp data /tmp/data; $same_tree; rm -r tree"

# seen FAULT LINE: it succeeds in spite of the fault, which has happened.
seen() {
  echo "$1"
  tell fault "$1" >/dev/null
  in_mount "timeout $operation_patience $2" || fail "$2 with $1"
  happened || fail "$1 did not happen"
  tell clear >/dev/null
}
seen disconnect=after:op=CREATE:times=1 "mkdir once"
seen disconnect=before:op=WRITE:times=1 "dd if=/tmp/data of=again bs=256k oflag=direct status=none"
seen nfsstat=NFS4ERR_DELAY:op=READ:times=1 "dd if=data of=/dev/null iflag=direct bs=256k status=none"
seen delay-reply=100:op=READ:times=2 "dd if=data of=/dev/null iflag=direct bs=256k status=none"
seen duplicate-reply:every=2:times=5 "cmp again /tmp/data"
tell fault nfsstat=NFS4ERR_NOSPC:op=WRITE:times=1 >/dev/null
if in_mount "dd if=/dev/zero of=full bs=4096 count=1 oflag=direct" >"$work/said"; then fail "no error with NFS4ERR_NOSPC"; fi
grep -q "No space left" "$work/said" || fail "$(cat "$work/said")"
tell clear >/dev/null
in_mount "cmp data /tmp/data; rm -r data again full link once"
unmount_kernel || fail "the guest does not unmount"
tell stats >"$work/stats"
end_proxy || fail "how the proxy ended"
for captured in client rpc; do
  "$lab" lint "$captures/$captured.pcapng" >"$work/said" || echo "$captured: $(grep -c Seen "$work/said") findings: $(grep -m 3 Seen "$work/said")"
done
