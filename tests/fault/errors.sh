#!/usr/bin/env bash
# Errors of each layer come out as the right errno, once, and leave nothing broken.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

# expect FAULT MESSAGE COMMAND...
expect() {
  local fault=$1 message=$2
  shift 2
  control fault "$fault:times=1" >/dev/null
  if LC_ALL=C timeout 60 "$@" >/dev/null 2>"$work/err"; then fail "$fault: $* succeeded"; fi
  grep -q "$message" "$work/err" || fail "$fault: $(cat "$work/err")"
  control clear >/dev/null
  timeout 60 mkdir "$mnt/after" || fail "$fault: nothing works afterwards"
  rmdir "$mnt/after"
}

expect nfsstat=NFS4ERR_ACCESS:op=CREATE 'Permission denied' mkdir "$mnt/x"
expect nfsstat=NFS4ERR_NOSPC:op=CREATE 'No space left' mkdir "$mnt/x"
expect nfsstat=NFS4ERR_DQUOT:op=CREATE 'Disk quota exceeded' mkdir "$mnt/x"
expect nfsstat=NFS4ERR_ROFS:op=CREATE 'Read-only file system' mkdir "$mnt/x"
expect nfsstat=NFS4ERR_NAMETOOLONG:op=CREATE 'File name too long' mkdir "$mnt/x"
expect nfsstat=NFS4ERR_IO:op=CREATE 'Input/output error' mkdir "$mnt/x"
expect nfsstat=NFS4ERR_SERVERFAULT:op=CREATE 'Input/output error\|Remote I/O' mkdir "$mnt/x"
expect rpc-error=system_err:op=CREATE 'Input/output error' mkdir "$mnt/x"
expect rpc-error=garbage_args:op=CREATE 'Input/output error' mkdir "$mnt/x"
expect rpc-error=auth:op=CREATE 'Permission denied\|Input/output error' mkdir "$mnt/x"
if [ "$NFSRDMA_PROTO" = rdma ]; then
  expect rdma-error=chunk:op=CREATE 'Input/output error' mkdir "$mnt/x"
  expect rdma-error=version:op=CREATE 'Input/output error\|Protocol' mkdir "$mnt/x"
fi

# traced FAULT REASON KIND: the log says what READ was for whom and why it failed, and a counter has it.
echo content >"$export/file"
traced() {
  control fault "$1:op=READ:times=1" >/dev/null
  if dd if="$mnt/file" of="$work/read" iflag=direct bs=4096 2>/dev/null; then fail "$1: no error"; fi
  control clear >/dev/null
  grep -q "read of inode [0-9]* .*for process [0-9]* at 127.0.0.1: .*$2" "$work/mount0.log" ||
    fail "$1: the log has no line: $(cat "$work/mount0.log")"
  counter "errors_read_$3" | grep -x 1 >/dev/null || fail "$1: no counter errors_read_$3: $(grep ^errors "$work/mount0.stats")"
}
traced nfsstat=NFS4ERR_IO NFS4ERR_IO NFS4ERR_IO
traced rpc-error=auth 'AUTH\|auth' 'rpc_.*'
# Over TCP a connection that has carried such replies is made anew, and the READ succeeds.
if [ "$NFSRDMA_PROTO" = rdma ]; then
  traced malformed=results COMPOUND4res decode_too_long
  traced rdma-error=chunk chunk 'transport_.*'
  traced malformed=rpc reply_stat decode_undefined_value
fi

# NFS4ERR_DELAY is not an error for the caller: the client asks again.
control fault nfsstat=NFS4ERR_DELAY:op=CREATE:times=2 >/dev/null
timeout 60 mkdir "$mnt/delayed" || fail "NFS4ERR_DELAY"
control clear >/dev/null
# A second reply is dropped.
control fault duplicate-reply:every=2 >/dev/null
for i in $(seq 50); do mkdir "$mnt/d$i" || fail "duplicate replies"; done
expect_alive
