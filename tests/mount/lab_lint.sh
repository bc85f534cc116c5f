#!/usr/bin/env bash
# nfsrdma-lab lint finds nothing in captures of this client and the responder, with large and small I/O, recalls and
# connections that break, over iWARP, TCP and version 2; and it finds what the responder is told to do wrong.
. "$(dirname "$0")/lib.sh"
[ -x "$NFSRDMA_BIN/nfsrdma-lab" ] || skip "no $NFSRDMA_BIN/nfsrdma-lab"

start_responder --delegations write --segment 1448
mkdir "$work/source"
for size in 0 1 3 4097 16385 100001 1048577 3000003; do head -c $size /dev/urandom >"$work/source/$size"; done

# lint FILE: its lines are in $said, its exit status in $status.
lint() {
  status=0
  "$NFSRDMA_BIN/nfsrdma-lab" lint "$1" >"$said" || status=$?
}
said=$work/said
# clean NAME: no rule is broken, and it was all looked at.
clean() {
  lint "$work/$1.pcapng"
  same 0 $status "what is wrong in $1: $(grep '^frame.*Seen' "$said" | head -n 3)"
  ! grep -q 'were not tried' "$said" || fail "$1 has holes"
  [ "$(sed -n 's/^connection 1: .*, \([0-9]*\) messages$/\1/p' "$said")" -gt 20 ] || fail "$1 has no messages"
}

# works NAME OPTIONS: there and back, with callbacks and broken connections between.
works() {
  local name=$1 i
  mount_export "capture=$work/$name.pcapng${2:+,$2}"
  mkdir "$mnt/$name"
  cp -r "$work/source/." "$mnt/$name"
  ln -s a-target-of-odd-length "$mnt/$name/link"
  exec 7<"$mnt/$name/3"
  echo changed >"$export/$name/3"
  control recall >/dev/null
  exec 7<&-
  control disconnect >/dev/null
  for i in $(seq 100); do echo "$i" >"$mnt/$name/small$i"; done
  control disconnect >/dev/null
  unmount_export
  mount_export "capture=$work/$name-back.pcapng${2:+,$2}"
  readlink "$mnt/$name/link" >/dev/null
  local readers=()
  for i in 1 2 3 4; do cat "$mnt/$name"/[0-9s]* >/dev/null & readers+=($!); done
  control disconnect >/dev/null
  for i in "${readers[@]}"; do wait "$i"; done
  rm -r "$mnt/$name"
  unmount_export
  clean "$name"
  clean "$name-back"
}
if [ "$NFSRDMA_PROTO" = tcp ]; then
  works plain
  exit 0
fi
works one
works two rpcrdma=2
works large rpcrdma=2,inline=65536

# finds RULE FAULT COMMAND...: the responder does this wrong once, and lint says so of the server before it says anything
# else of it.
head -c 100001 /dev/urandom >"$export/file"
head -c 3000 /dev/urandom >"$export/small"
mkdir "$export/folder"
for i in $(seq 400); do : >"$export/folder/a-name-that-is-long-enough-to-matter-$i"; done
finds() {
  local rule=$1 fault=$2
  shift 2
  mount_export "capture=$work/fault.pcapng,noac"
  control fault "$fault:times=1" >/dev/null
  timeout 60 "$@" >/dev/null 2>&1 || true
  control clear >/dev/null
  unmount_export
  lint "$work/fault.pcapng"
  same 1 $status "exit status for $fault"
  grep -q "server: $rule" <<<"$(grep '^frame [0-9]* [0-9]*:.*Seen' "$said" | grep -v '(note)' | head -n 1)" ||
    fail "lint does not find $fault: $(grep '^frame' "$said" | head -n 5)"
}
finds 'RFC 8166 section 4.5 ' malformed=truncated:op=READ cat "$mnt/file"
finds 'RFC 8166 section 4.2.1 ' malformed=wrong-xid:op=READ cat "$mnt/file"
finds 'RFC 8166 section 4.2.1 ' malformed=wrong-rpc-xid:op=READ cat "$mnt/file"
finds 'RFC 8166 section 4.2.2 ' malformed=wrong-version:op=READ cat "$mnt/file"
finds 'RFC 8166 section 4.2.4 ' malformed=wrong-proc:op=READ cat "$mnt/file"
finds 'RFC 8166 section 4.7 ' malformed=bad-chunks:op=READ cat "$mnt/file"
finds 'RFC 8166 section 4.3.1 ' malformed=read-list:op=READ cat "$mnt/file"
finds 'RFC 8166 section 4.3.2 ' malformed=missing-chunk:op=READ cat "$mnt/file"
finds 'RFC 8166 section 3.4.6 ' malformed=missing-segment:op=READ cat "$mnt/file"
finds 'RFC 8166 section 3.4.6 ' malformed=changed-handle:op=READ cat "$mnt/file"
finds 'RFC 8166 section 3.4.6 ' malformed=long-length:op=READ cat "$mnt/file"
finds 'RFC 8166 section 3.4.6 ' malformed=short-length:op=READ cat "$mnt/file"
finds 'RFC 8166 section 3.4.6 ' malformed=write-pad:op=READ cat "$mnt/file"
finds 'RFC 8166 section 3.4.6 ' malformed=results:op=READ cat "$mnt/file"
finds 'RFC 8166 section 3.4.6 ' malformed=short-reply-chunk:op=READDIR ls "$mnt/folder"
finds 'RFC 8166 section 3.3.2 ' malformed=oversize:op=READ cat "$mnt/file"
finds 'RFC 8166 section 4.3.2 ' malformed=inline-result:op=READ dd if="$mnt/small" bs=64k iflag=direct status=none
finds 'RFC 5531 section 9:' malformed=rpc:op=READ cat "$mnt/file"
finds 'RFC 8166 section 3.3.1 ' zero-grant:op=READ cat "$mnt/file"
finds 'RFC 5531 section 9 ' duplicate-reply:op=READ cat "$mnt/file"
finds 'RFC 8166 section 4.5.1 ' rdma-error=version:op=READ cat "$mnt/file"

# What breaks no rule is no finding, and the client goes on as it may: ERR_CHUNK and statuses, which a server can have a
# reason for, late replies, and answers that never come, of which there is a note.
for fault in rdma-error=chunk:op=READ nfsstat=NFS4ERR_DELAY:op=READ delay-reply=50:op=READ drop-reply:op=READ credits=1; do
  mount_export "capture=$work/allowed.pcapng,noac"
  control fault "$fault:times=1" >/dev/null
  timeout 5 cat "$mnt/file" >/dev/null 2>&1 || true
  control clear >/dev/null
  control disconnect >/dev/null
  unmount_export
  clean allowed
  [ $fault != drop-reply:op=READ ] || grep -q '(note).*Each call is answered' "$said" || fail "no note of an answer that never came"
done
