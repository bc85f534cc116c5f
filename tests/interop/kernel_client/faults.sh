#!/usr/bin/env bash
# The kernel's client in the guest against the responder, which breaks connections, delays, refuses and answers twice:
# each change is made once, each error reaches the program, and afterwards all works.
# Usage: faults.sh siw|tcp
. "$(dirname "$0")/lib.sh"
serve_kernel "$1" --lease 10
head -c 3000003 /dev/urandom >"$export/data"
mount_kernel "$kernel_port" acregmin=0,acregmax=0,acdirmin=0,acdirmax=0

# once OPERATION LINE: the change succeeds although the connection breaks behind it, before the first reply.
once() {
  local id
  id=$(fault "disconnect=after:op=$1:times=1")
  in_mount "timeout $operation_patience sh -c '$2'" || fail "$1: $2"
  met "$id" disconnect || fail "$1: the reply was not lost"
  control clear >/dev/null
}
in_mount "echo content >file; mkdir dir"
once CREATE "mkdir new"
once CREATE "ln -s target symlink"
once CREATE "mkfifo fifo"
once LINK "ln file hardlink"
once RENAME "mv file renamed"
once REMOVE "rm hardlink"
once REMOVE "rmdir new"
once OPEN "set -C; echo exclusive >exclusive"
once WRITE "echo appended >>renamed"
once SETATTR "truncate -s 3 exclusive"
once COMMIT "dd if=data of=committed bs=1M conv=fsync status=none"
once CLOSE "cat renamed >/dev/null"
same "content appended" "$(paste -sd' ' "$export/renamed")" "what was appended once"
same exc "$(cat "$export/exclusive")" "what was cut"
same target "$(readlink "$export/symlink")" "the link"
same 1 "$(stat -c %h "$export/renamed")" "its names"
same "committed data dir exclusive fifo renamed symlink" "$(cd "$export" && echo *)" "names at the server"
cmp "$export/data" "$export/committed" || fail "what was committed"

# errs RULE MESSAGE LINE: the program gets this error, and the next one none. The rule holds for more than one call: an RPC that the
# server could not decode is sent again.
errs() {
  fault "$1" >/dev/null
  if in_mount "timeout $operation_patience $3" >"$work/errs"; then fail "$1: $3 succeeded"; fi
  grep -q "$2" "$work/errs" || fail "$1: $(cat "$work/errs")"
  control clear >/dev/null
  in_mount "timeout $operation_patience mkdir after; rmdir after" || fail "$1: nothing works afterwards"
}
errs nfsstat=NFS4ERR_ACCESS:op=CREATE "Permission denied" "mkdir x"
errs nfsstat=NFS4ERR_NOSPC:op=CREATE "No space left" "mkdir x"
errs nfsstat=NFS4ERR_DQUOT:op=CREATE "Disk quota exceeded" "mkdir x"
errs nfsstat=NFS4ERR_IO:op=READ "Input/output error" "dd if=data iflag=direct bs=4096 count=1"
errs nfsstat=NFS4ERR_NOSPC:op=WRITE "No space left" "dd if=/dev/zero of=full bs=4096 count=1 conv=fsync"
errs rpc-error=system_err:op=CREATE "Input/output error" "mkdir x"
[ "$1" = tcp ] || errs rdma-error=chunk:op=CREATE "Input/output error\|Remote I/O error" "mkdir x"

# in_spite_of RULE: data goes both ways, is right, and the fault has happened.
in_spite_of() {
  local id
  id=$(fault "$1")
  in_mount "rm -f copy; timeout $operation_patience dd if=data of=copy bs=256k iflag=direct oflag=direct status=none; mkdir sub; rmdir sub" ||
    fail "$1"
  met "$id" "$2" || fail "$1 did not happen"
  control clear >/dev/null
  cmp "$export/data" "$export/copy" || fail "$1: the copy"
}
in_spite_of nfsstat=NFS4ERR_DELAY:op=CREATE:times=2 nfsstat
in_spite_of nfsstat=NFS4ERR_DELAY:op=OPEN:times=1 nfsstat
in_spite_of delay=50:op=READ:times=4 delay
in_spite_of delay-reply=50:op=WRITE:times=4 delay-reply
in_spite_of duplicate-reply:every=2 duplicate-reply
in_spite_of disconnect=before:op=WRITE:every=4:times=2 disconnect
in_spite_of disconnect=after:op=READ:every=4:times=2 disconnect
if [ "$1" = siw ]; then
  in_spite_of zero-grant:every=3 zero-grant
  fault credits=1 >/dev/null
  in_mount "cmp data copy && cp data few && cmp data few" || fail "one credit"
  control clear >/dev/null
else
  in_spite_of fragments=1000:op=READ:times=3 fragments
fi

# The server loses its sessions, and the client makes new ones; it stands still, and the client waits.
control forget-sessions >/dev/null
in_mount "timeout $operation_patience mkdir sessions" || fail "after forget-sessions"
control stop >/dev/null
launch waits "timeout $operation_patience mkdir waited"
same "" "$(cat "$jobs/waits.status" 2>/dev/null || true)" "mkdir on a server that stands still"
control continue >/dev/null
await waits

# A tree and a file while connections break again and again. (The kernel's client waits a second before it connects again, and
# twice as long each time that it has lost one early.)
fault disconnect=every:seconds=5 >/dev/null
launch storm "cp -r /usr/share/perl5/Debconf tree; diff -r /usr/share/perl5/Debconf tree
  for i in 1 2 3 4; do cp data data\$i; cmp data data\$i; done"
await storm
control clear >/dev/null
for i in 1 2 3 4; do cmp "$export/data" "$export/data$i" || fail "data$i at the server"; done
unmount_kernel || fail "the guest does not unmount"
