#!/usr/bin/env bash
# The log of a mount in the background, at its default level, after each kind of fault that the responder has: an error that
# a program got is one line with operation, inode, path, process, server, cause, XID and slot; what the program does not notice is
# told with the server and the cause; and what was lost is told when it is back. E-8881-2, V1-4.5.5-1.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
leave() {  # both of the libraries have one
  local status=$?
  control clear >/dev/null 2>&1 || true
  control continue >/dev/null 2>&1 || true
  fusermount3 -uz "$mnt" 2>/dev/null || true
  clean_up $status
}
trap leave EXIT
log=$work/mount.log
patience=200

# Over TCP a record that is cut goes another way with faults of the wire.
wire_faults=()
[ "$NFSRDMA_PROTO" != rdma ] || wire_faults=(--wire-faults)
start_responder --lease 5 "${wire_faults[@]}"
head -c 300000 /dev/urandom >"$export/file"
touch "$export"/names_of_a_long_reply_{1..200}

# Each of the many commands would start a Python.
coproc CONTROL {
  exec python3 -c 'import control, sys
for line in sys.stdin: print(control.send(sys.argv[1], line.rstrip()).splitlines()[-1], flush=True)' "$work/control"
}
control() {
  local answer
  echo "$*" >&"${CONTROL[1]}"
  read -r answer <&"${CONTROL[0]}"
  case $answer in ok*) ;; *) fail "control $*: $answer" ;; esac
}

# mount_quietly [options]: a mount whose log has what a mount in the background logs without options.
mount_quietly() {
  "$NFSRDMA_BIN/nfsrdma" -o "proto=$NFSRDMA_PROTO,port=$port,log=$log,noac${1:+,$1}" 127.0.0.1:/ "$mnt"
  # A thread of its own writes the log: the mount is there first.
  wait_for "a line that names the mount" \
    grep -qs "^[-0-9]* [:.0-9]* \[[0-9]*\] I $mnt: 127.0.0.1:/ is mounted" "$log"
}
unmount_quietly() {
  local pid
  pid=$(daemon)
  fusermount3 -u "$mnt"
  wait_for "the program's end" gone "$pid"
  ! grep -v "^[-0-9]* [:.0-9]* \[$pid\] [IWE] $mnt: " "$log" || fail "lines without time, process and mount"
  cat "$log" >>"$work/all"
  rm "$log"
}

said() { grep -q -- "$1" <<<"$(tail -c +"$mark" "$log")"; }
begin() {
  mark=$(($(stat -c %s "$log") + 1))
  done_kinds="$done_kinds $1"
}
done_kinds=
read_file() { timeout 60 dd if="$mnt/file" of=/dev/null bs=128k count=1 iflag=direct 2>"$work/err"; }
on_read() { control fault "$1:op=READ:times=1"; }

# told FAULT CAUSE: the READ fails, and the log tells all of it.
told() {
  begin "$1"
  on_read "$1"
  if read_file; then fail "$1: READ succeeded"; fi
  local file="read of inode [0-9]* '$mnt/file' for process [0-9]* at 127.0.0.1"
  wait_for "a line of $1 with $2" \
    said " W $mnt: $file: .*$2.* (XID 0x[0-9a-f]*, slot [0-9]*); the program gets: "
}
# repaired FAULT CAUSE: the READ succeeds; the log tells the cause with the server, and that all is well again.
repaired() {
  begin "$1"
  on_read "$1"
  read_file || fail "$1: $(cat "$work/err")"
  wait_for "a line of $1 with $2" said " W $mnt: .*127.0.0.1:$port: .*$2"
  wait_for "the end of $1" said " W $mnt: .*127.0.0.1:$port: connected again"
}
# harmless FAULT [OPERATION]: no user has to know, or this side cannot.
harmless() {
  begin "$1"
  control fault "$1:${2:+op=$2:}times=1"
  if [ "${2:-}" = WRITE ]; then write_file; else read_file; fi || fail "$1: $(cat "$work/err")"
  ! said " [WE] " || fail "$1: $(tail -c +"$mark" "$log")"
}
write_file() { timeout 60 dd if=/dev/zero of="$mnt/file" bs=128k count=1 conv=notrunc oflag=direct 2>"$work/err"; }
# misused FAULT OPERATION CAUSE: the server has used memory that it must not: the log has that, and that the operation failed.
misused() {
  begin "$1"
  control fault "$1:op=$2:times=1"
  local file="${2,,} of inode [0-9]* '$mnt/file' for process [0-9]* at 127.0.0.1"
  if [ "$2" = WRITE ]; then write_file; else read_file; fi && fail "$1: $2 succeeded"
  wait_for "a line of $1 with $3" said " W $mnt: .*127.0.0.1:$port: .*$3"
  wait_for "the end of $1" said " W $mnt: .*127.0.0.1:$port: connected again"
  wait_for "the failure of $1" said " W $mnt: $file: .* (XID 0x[0-9a-f]*, slot [0-9]*); the program gets: "
}
# refused_at_first FAULT CAUSE: of the next connection, which takes another attempt, or is made in spite of it.
refused_at_first() {
  begin "$1"
  control fault "$1:times=1"
  control disconnect
  read_file || fail "$1: $(cat "$work/err")"
  wait_for "a line of $1 with $2" said " W $mnt: .*$2"
  wait_for "the end of $1" said " W $mnt: .*127.0.0.1:$port: connected again"
}
# on_the_wire FAULT CAUSE: of the connection that a READ uses, which is made anew.
on_the_wire() {
  begin "$1"
  control fault "$1:times=1"
  read_file || fail "$1: $(cat "$work/err")"
  wait_for "a line of $1 with $2" said " W $mnt: .*127.0.0.1:$port: .*$2"
  wait_for "the end of $1" said " W $mnt: .*127.0.0.1:$port: connected again"
}
# The same lines are written a few times a minute only, so that mounts differ.
again() {
  unmount_quietly
  mount_quietly "$@"
}

# Of errors that programs get.
mount_quietly
told nfsstat=NFS4ERR_IO "READ: NFS4ERR_IO (op 3 of 3)"
for error in PROG_UNAVAIL PROG_MISMATCH PROC_UNAVAIL GARBAGE_ARGS SYSTEM_ERR; do
  told "rpc-error=${error,,}" "RPC reply: $error"
done
told rpc-error=auth "RPC reply: AUTH_ERROR (auth_stat 1)"
told malformed=rpc "RPC reply: undefined value (reply_stat at offset 12)"
if [ "$NFSRDMA_PROTO" = rdma ]; then
  told rdma-error=version "does not speak this version of RPC-over-RDMA"
  told rdma-error=chunk "could not process the transport header or its chunks"
  told malformed=missing-segment "READ: inline count and placed length disagree"
  told malformed=short-length "READ: inline count and placed length disagree"
  told malformed=inline-result "could not process the transport header or its chunks"
  told malformed=results "COMPOUND: too long (COMPOUND4res resarray at offset 36)"
fi
begin name
control fault nfsstat=NFS4ERR_NOSPC:op=CREATE:times=1
refused "No space left" env LC_ALL=C mkdir "$mnt/it's"$'\n'
wait_for "a line of mkdir" said "mkdir of 'it.x27s.x0a' in inode [0-9]* .*CREATE: NFS4ERR_NOSPC .*slot"

# Of what this client mends.
for kind in delay=10 delay-reply=10 duplicate-reply reorder=1 credits=4 fragments=100 replay-cache=off \
  replay-cache=garbage result=short:100 clock=10; do harmless "$kind" READ; done
harmless unstable=lost WRITE
for kind in cb-credits=2 slots=highest:4,target:4; do harmless "$kind"; done
control clear
repaired disconnect=before "closed by the peer"
repaired disconnect=after "closed by the peer"
if [ "$NFSRDMA_PROTO" = rdma ]; then
  repaired malformed=truncated "the peer broke the protocol (too short)"
  repaired malformed=wrong-rpc-xid "XIDs of header and RPC message differ"
  again
  repaired malformed=wrong-version "unsupported version"
  repaired malformed=wrong-proc "undefined rdma_proc"
  repaired malformed=bad-chunks "the peer broke the protocol (malformed)"
  repaired malformed=read-list "Read list in a reply"
  again
  repaired malformed=missing-chunk "Write list has another length"
  repaired malformed=changed-handle "segment is not the one that was offered"
  repaired malformed=long-length "segment is longer than offered"
  repaired malformed=oversize "the posted receive 4096"
  again
  harmless malformed=write-pad READ
  begin zero-grant
  on_read zero-grant
  read_file
  wait_for "a line of zero-grant" said " W $mnt: the server granted no credit; going on with one"
  begin malformed=short-reply-chunk
  # Of what opens the directory, and of what lists it.
  control fault malformed=short-reply-chunk:op=READDIR:times=2
  refused "Input/output error" env LC_ALL=C ls "$mnt"
  wait_for "a line of short-reply-chunk" \
    said "readdirplus of inode [0-9]* '$mnt' for process [0-9]* at 127.0.0.1: READDIR: runs past the end of the message"
  control clear

  # At the fabric: what the server does with its connection, and with memory of this side.
  for kind in write=twice write=corrupt:10 send-done=50 invalidate=none invalidate=unasked \
    receives=none:50 receives=hold; do harmless "$kind" READ; done
  repaired invalidate=other-call "Send with Invalidate of STag 0x[0-9a-f]* that is not valid"
  again
  for kind in read=cut:10 resources=prepare; do harmless "$kind" WRITE; done
  for kind in write=late write=drop write=cut:100; do repaired "$kind" "claims bytes that no RDMA Write has placed"; done
  again
  told lie=READ-says-2^31-bytes "could not process the transport header or its chunks"
  misused write=stag:+1 READ "RDMA Write to STag 0x[0-9a-f]* that is not valid: [0-9]* bytes"
  misused write=to:+4 READ "RDMA Write to STag 0x[0-9a-f]* outside its bounds"
  again
  misused read=stag:+1 WRITE "RDMA Read from STag 0x[0-9a-f]* that is not valid: [0-9]* bytes"
  misused read=to:+4 WRITE "RDMA Read from STag 0x[0-9a-f]* outside its bounds"
  misused invalidate=wrong READ "Send with Invalidate of STag 0x[0-9a-f]* that is not valid"
  for kind in disconnect=mid-write:10 disconnect=before-send disconnect=after-send resources=receive resources=write resources=send \
    device=removed device=queue-error device=port-down; do
    again
    repaired "$kind" "closed by the peer"
  done
  for kind in resources=connect resources=read disconnect=after-read private-data=absent private-data=send:8192,recv:8192 private-data=00; do
    again
    refused_at_first "$kind" "closed by the peer"
  done
  again
  refused_at_first connect=reject "MPA startup: the peer rejected the connection"
  refused_at_first disconnect=accept "MPA startup: closed by the peer (after 0 bytes)"
  refused_at_first connect=silent "no answer to the lease renewal: the connection is made anew"
  again
  harmless wire=split:100
  on_the_wire wire=badcrc "CRC mismatch in the FPDU at stream byte [0-9]*"
  on_the_wire wire=terminate:0x1101 "the peer terminated the stream (DDP tagged buffer error: base or bounds violation"
  on_the_wire wire=reset "connection reset"
  again
  on_the_wire wire=finish "closed by the peer"
  refused_at_first wire=revision:1 "closed by the peer"
  again
  refused_at_first wire=markers "MPA startup: .*the peer asks for markers"
  refused_at_first wire=refuse "MPA startup: the peer rejected the connection"
  control clear
else
  repaired malformed=truncated "closed by the peer (in the middle of a record"
  repaired malformed=oversize "a record longer than any message"
  repaired malformed=results "a reply that ends before its data does"
fi

# A server that does not answer: what waits for it, and when it goes on.
again soft,timeo=2,retrans=1
begin soft
exec 5<"$mnt/file"
control stop
refused "Input/output error" env LC_ALL=C cat <&5
exec 5<&-
wait_for "a line of soft" said "getattr of inode [0-9]* '$mnt/file' for process [0-9]* at 127.0.0.1: soft: "
wait_for "a silent server" said " W $mnt: server 127.0.0.1 does not answer; requests wait"
control continue
wait_for "its answer" said " W $mnt: server 127.0.0.1 answers again"
again timeo=2,retrans=1
if [ "$NFSRDMA_PROTO" = rdma ]; then
  repaired malformed=wrong-xid "invalidates a handle of no open call"
fi
for kind in drop-reply $([ "$NFSRDMA_PROTO" != rdma ] || echo send=drop); do
  begin "$kind"
  on_read "$kind"
  read_file || fail "$kind"
  wait_for "lost replies" said " W $mnt: calls get no answer: their connection is made anew"
  wait_for "their end" said " W $mnt: .*127.0.0.1:$port: connected again"
  control clear
  again timeo=2,retrans=1
done
if [ "$NFSRDMA_PROTO" = rdma ]; then
  begin wire=silence
  control fault wire=silence:times=1
  read_file || fail wire=silence
  wait_for "a connection that died silently" said " W $mnt: no answer to the lease renewal: the connection is made anew"
  wait_for "its end" said " W $mnt: .*127.0.0.1:$port: connected again"
  control clear
  again timeo=2,retrans=1
fi
begin flags=CB_PATH_DOWN
control fault flags=CB_PATH_DOWN:times=1
read_file || fail "flags"
wait_for "the flags" said " W $mnt: the server reports sr_status_flags 0x1"
again
begin reboot
exec 5<"$mnt/file"
control reboot
cat <&5 >/dev/null || fail "reboot"
exec 5<&-
wait_for "a reboot" said " W $mnt: the server has restarted or the lease ran out"
wait_for "its end" said " W $mnt: recovery is complete"
unmount_quietly

# A kind of fault that is new has to be told, too.
[ "$NFSRDMA_PROTO" = rdma ] || exit 0
"$here/control.py" "$work/control" help >help.txt
kinds=$(sed -n 's/^fault \([^ ]*\)$/\1/p' help.txt)
[ "$(wc -w <<<"$kinds")" -gt 30 ] || fail "the responder lists no faults: $(cat help.txt)"
for kind in $kinds; do
  # As far as it is written as it stands.
  tried=$(sed -E 's/([=:])\+?(MS|N|BYTES|SECONDS|STATUS|NAME|HEX)\b.*$/\1/' <<<"$kind")
  case $kind in
    disconnect=every:*) tried=disconnect=before ;;  # the same by the clock
    lie=*) tried=lie= ;;                            # one of many: what is believed is no error
    "$tried") tried="$kind " ;;
  esac
  case "$done_kinds " in *" $tried"*) ;; *) fail "$kind is not tried" ;; esac
done
