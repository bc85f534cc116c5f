#!/usr/bin/env bash
# nfsrdma-lab shrink: a capture in which a WRITE has failed becomes the few calls that the WRITE needs; a script is cut down
# against a server and by what a program says of it, twice to the same; what does not fail is refused.
. "$(dirname "$0")/lib.sh"
lab=$NFSRDMA_BIN/nfsrdma-lab
[ -x "$lab" ] || skip "no $lab"

start_responder
server=127.0.0.1:$rdma_port
empty="rm -rf $export/*"

# A capture: what it has of other files is not needed.
mount_export "capture=$work/client.pcapng,noac"
mkdir "$mnt/d"
echo other >"$mnt/d/other"
control fault nfsstat=NFS4ERR_NOSPC:op=WRITE:times=1 >/dev/null
same ENOSPC "$(errno_of "os.write(os.open('$mnt/file', os.O_CREAT | os.O_WRONLY | os.O_SYNC), b'content')")" "the WRITE that fails"
cat "$mnt/d/other" >/dev/null
unmount_export
mount_points=() mount_pids=()
for n in 1 2; do
  "$lab" shrink client.pcapng "$server" --before "$empty" --out "least$n.nfs" 2>"$work/said" || fail "shrink: $(cat "$work/said")"
done
cmp least1.nfs least2.nfs
same 'expect reply.WRITE.status = NFS4ERR_NOSPC; it is NFS4_OK' "$(tail -n 1 "$work/said")" "what it was cut down for"
# Root and its handle; the directory, OPEN and the handle; the file and WRITE.
grep -q ': 6 of [0-9]* statements and 7 of [0-9]* operations are left ' "$work/said" || fail "$(cat "$work/said" least1.nfs)"
# It holds where the fault is.
eval "$empty"
control fault nfsstat=NFS4ERR_NOSPC:op=WRITE:times=1 >/dev/null
"$lab" script least1.nfs "$server" >"$work/said" 2>&1 || fail "where the fault is: $(cat "$work/said")"

# A script, by what a program says of it; and the program that does not end.
cat >long.nfs <<'END'
# A comment.
connect
session
repeat 2 { compound slot=0 { PUTROOTFH GETATTR [type] }; pause 1ms }
compound slot=0 { PUTROOTFH GETATTR [size] # a size
  LOOKUP "nothing" GETFH }
expect reply.PUTROOTFH.status = NFS4_OK
expect reply.LOOKUP.status = NFS4_OK
END
"$lab" shrink long.nfs "$server" >least.nfs 2>"$work/said" || fail "shrink: $(cat "$work/said")"
same "connect session compound slot=0 { PUTROOTFH LOOKUP \"nothing\" } expect reply.LOOKUP.status = NFS4_OK" \
  "$(tr '\n' ' ' <least.nfs | sed 's/ $//')" "the least of the script"
"$lab" shrink long.nfs -- sh -c '! grep -q LOOKUP "$0"' >least.nfs 2>"$work/said" || fail "shrink: $(cat "$work/said")"
same "compound slot=0 { LOOKUP \"nothing\" }" "$(cat least.nfs)" "the least for a program"
"$lab" shrink long.nfs --tries 2 "$server" 2>"$work/said" >least.nfs || fail "shrink: $(cat "$work/said")"
grep -q ' after 2 tries, which --tries has ended$' "$work/said" || fail "with two tries: $(cat "$work/said")"

# What does not fail, what is not there, and what is not known.
echo connect >fine.nfs
for words in "fine.nfs $server" "fine.nfs" "fine.nfs -- true" "--nonsense"; do
  status=0
  # shellcheck disable=SC2086
  "$lab" shrink $words >"$work/said" 2>&1 || status=$?
  same 2 $status "exit status of shrink $words"
done
status=0
"$lab" shrink fine.nfs --before false -- true >"$work/said" 2>&1 || status=$?
same 3 $status "exit status where the server cannot be prepared"
status=0
"$lab" shrink missing.nfs -- true >"$work/said" 2>&1 || status=$?
same 3 $status "exit status of a file that cannot be read"
