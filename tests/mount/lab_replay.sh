#!/usr/bin/env bash
# nfsrdma-lab replay: what a mount did, recorded on the wire, issued again to a server that begins with the same tree: no
# difference, over iWARP and TCP, from each form of capture, and as a script; a server that answers otherwise is told by the
# frame; what names an answer that never came is not issued.
. "$(dirname "$0")/lib.sh"
lab=$NFSRDMA_BIN/nfsrdma-lab
[ -x "$lab" ] || skip "no $lab"

start_responder --delegations write
mount_export "capture=$work/wire.pcapng,noac"
mkdir "$mnt/d"
head -c 2500003 /dev/urandom >"$mnt/d/big"
echo hello >"$mnt/d/small"
ln -s a-target-of-odd-length "$mnt/d/link"
for i in 1 2 3; do echo "$i" >"$mnt/d/a file of \"$i\""; done
unmount_export
# A second session: this one knows the files by what READDIR says.
mount_export "capture=$work/second.pcapng,noac"
find "$mnt" -ls >/dev/null
cmp "$mnt/d/big" "$export/d/big"
mv "$mnt/d/small" "$mnt/d/other"
ln "$mnt/d/other" "$mnt/d/hard"
chmod 600 "$mnt/d/hard"
truncate -s 3 "$mnt/d/hard"
exec 8>>"$mnt/d/big"
flock 8
exec 8>&-
rm "$mnt/d/link" "$mnt/d/a file of \"2\""
unmount_export
mount_points=() mount_pids=()
"$lab" convert "$work/second.pcapng" "$work/second-rpc.pcapng" >/dev/null

# again WHAT ARGUMENTS...: a replay without a difference, after which the server has the same tree.
again() {
  local what=$1
  shift
  "$lab" replay "$@" >"$work/said" 2>&1 || fail "$what: $(cut -c1-2000 "$work/said" | head -n 12)"
  grep -q ' answers compared, no difference$' "$work/said" || fail "$what says $(tail -n 1 "$work/said")"
}
tree() { (cd "$export" && find . -printf '%p %y %m %n %l %s\n' | grep -v ' d ' | sort); }
tree >"$work/tree"
cp "$export/d/big" "$work/big"
for second in second second-rpc; do
  for server in "iwarp:127.0.0.1:$rdma_port" "tcp:127.0.0.1:$tcp_port"; do
    rm -rf "${export:?}"/*
    again "the first session at $server" "$work/wire.pcapng" "$server" --script "$work/first.nfs"
    again "$second at $server" "$work/$second.pcapng" "$server"
    tree | diff "$work/tree" - || fail "the tree behind $second at $server"
    cmp "$export/d/big" "$work/big"
  done
done
# Below a directory, and as the script that it has written.
mkdir -p "$export/below/this"
again "below a directory" "$work/wire.pcapng" "iwarp:127.0.0.1:$rdma_port/below/this"
cmp "$export/below/this/d/big" "$work/big"
rm -rf "${export:?}"/*
"$lab" script "$work/first.nfs" "iwarp:127.0.0.1:$rdma_port" >"$work/said" 2>&1 || fail "the script: $(head -c 2000 "$work/said")"
cmp "$export/d/big" "$work/big"

# A name that is there already: another status, by the frame of the answer in the capture.
rm -rf "${export:?}"/*
touch "$export/d"
status=0
"$lab" replay "$work/wire.pcapng" "iwarp:127.0.0.1:$rdma_port" >"$work/said" 2>&1 || status=$?
same 1 $status "status of a replay with a difference"
grep -qx '  capture: NFS4ERR_NOENT' "$work/said" && grep -qx '  server: NFS4_OK' "$work/said" || fail "it says $(head -c 2000 "$work/said")"
frame=$(sed -n 's/^frame \([0-9]*\): LOOKUP.status$/\1/p' "$work/said")
if command -v tshark >/dev/null && [ "$NFSRDMA_PROTO" = tcp ]; then
  same "$frame" "$(tshark -n -r "$work/wire.pcapng" -Y 'nfs.status == 2' -T fields -e frame.number 2>/dev/null | head -n 1)" "frame of LOOKUP"
fi
[ -n "$frame" ] || fail "no frame: $(head -c 2000 "$work/said")"
status=0
"$lab" replay "$work/wire.pcapng" "iwarp:127.0.0.1:$rdma_port" --keep-going >"$work/said" 2>&1 || status=$?
same 1 $status "status with --keep-going"
grep -q '^[0-9]* calls not issued: they name what no answer had$' "$work/said" || fail "with --keep-going: $(tail -n 2 "$work/said")"

# What cannot be done.
for words in "$work/wire.pcapng" "$work/wire.pcapng one two" "--nonsense"; do
  status=0
  # shellcheck disable=SC2086
  "$lab" replay $words >"$work/said" 2>&1 || status=$?
  same 2 $status "exit status of replay $words"
done
echo nonsense >"$work/nonsense"
status=0
"$lab" replay "$work/nonsense" 127.0.0.1 >"$work/said" 2>&1 || status=$?
same 3 $status "a file that is no capture"
