#!/usr/bin/env bash
# Each kind of malformed reply, on READ, WRITE and LOOKUP: the caller gets an error or the right
# result, never wrong data and never a hang; afterwards all works.
. "$(dirname "$0")/lib.sh"
start_responder
head -c 300000 /dev/urandom >"$export/data"
mount_export

kinds="truncated wrong-rpc-xid wrong-version wrong-proc bad-chunks read-list missing-chunk
missing-segment changed-handle long-length short-length inline-result write-pad oversize rpc results"
[ "$NFSRDMA_PROTO" = rdma ] || kinds="truncated oversize rpc results"

read_back() {
  if timeout 60 dd if="$mnt/data" of="$work/copy" bs=128k iflag=direct 2>"$work/dd.err"; then
    cmp "$work/copy" "$export/data" || fail "$1: wrong data without an error"
    echo "$1: READ recovered"
  else
    [ $? -ne 124 ] || fail "$1: READ hangs"
    grep -q 'Input/output error\|Remote I/O error\|Protocol error' "$work/dd.err" ||
      fail "$1: READ: $(cat "$work/dd.err")"
    echo "$1: READ gave an error"
  fi
}

write_new() {
  if timeout 60 cp "$export/data" "$mnt/new-$1" 2>"$work/cp.err"; then
    cmp "$export/data" "$export/new-$1" || fail "$1: wrong data written without an error"
  else
    [ $? -ne 124 ] || fail "$1: WRITE hangs"
  fi
}

for kind in $kinds; do
  control fault "malformed=$kind:op=READ:times=1" >/dev/null
  read_back "$kind"
  control clear >/dev/null
  control fault "malformed=$kind:op=WRITE:times=1" >/dev/null
  write_new "$kind"
  control clear >/dev/null
  control fault "malformed=$kind:op=LOOKUP:times=1" >/dev/null
  timeout 60 stat "$mnt/missing-$kind" >/dev/null 2>&1 && fail "$kind: found what is not there"
  [ $? -ne 124 ] || fail "$kind: LOOKUP hangs"
  control clear >/dev/null
  expect_alive "$kind"
  timeout 60 cmp "$mnt/data" "$export/data" || fail "$kind: the mount is not the same again"
done

# A reply to no call leaves its call open until the connection is broken (RFC 8881 section 2.9.2).
control fault malformed=wrong-xid:op=READ:times=1 >/dev/null
timeout 60 dd if="$mnt/data" of="$work/copy" bs=128k iflag=direct 2>/dev/null &
pending=$!
sleep 1
control disconnect >/dev/null
wait "$pending" || fail "wrong-xid: READ after the disconnect"
cmp "$work/copy" "$export/data" || fail "wrong-xid: wrong data"
expect_alive
