#!/usr/bin/env bash
# nfsrdma-lab proxy between this client and the responder, each side over iWARP or TCP: all data and names go through it,
# a delegation is recalled through it, a server that goes takes the client's connection along; its captures break no rule;
# each fault it is told of is seen by the client,
# and messages that no client sends do no harm.
. "$(dirname "$0")/lib.sh"
lab=$NFSRDMA_BIN/nfsrdma-lab
[ -x "$lab" ] || skip "no $lab"

start_responder --delegations write
mkdir "$work/source"
for size in 0 1 3 4097 16385 100001 1048577 3000003; do head -c $size /dev/urandom >"$work/source/$size"; done
proxy_pid=
trap 'status=$?; [ -z "$proxy_pid" ] || kill "$proxy_pid" 2>/dev/null || true; clean_up $status' EXIT

# start_proxy CARRIER SERVER-CARRIER [option...]: sets $port and $NFSRDMA_PROTO, so that mounts go through it.
start_proxy() {
  local from=$1 to=$2 server=$rdma_port
  shift 2
  [ "$to" = iwarp ] || server=$tcp_port
  : >"$work/proxy.out"
  "$lab" proxy "$from:127.0.0.1:0" "$to:127.0.0.1:$server" --control "$work/proxy" "$@" \
    >"$work/proxy.out" 2>"$work/proxy.log" &
  proxy_pid=$!
  wait_for "the proxy" grep -q '^listening on' "$work/proxy.out"
  port=$(sed -n 's/^listening on .*://p' "$work/proxy.out")
  NFSRDMA_PROTO=rdma
  [ "$from" = iwarp ] || NFSRDMA_PROTO=tcp
}
end_proxy() {
  kill "$proxy_pid"
  wait "$proxy_pid" || fail "the proxy ended with status $?"
  proxy_pid=
}
tell() { "$lab" fault "$work/proxy" "$@"; }
proxied() { tell stats | sed -n "s/^$1 //p"; }

# carries CLIENT-SIDE SERVER-SIDE: the workload, and what the captures of both sides say of it.
carries() {
  local name=$1-$2 captured
  start_proxy "$1" "$2" --capture-client "$work/$name-c.pcapng" --capture-server "$work/$name-s.pcapng" \
    --capture-rpc "$work/$name-r.pcapng"
  mount_export noac
  mkdir "$mnt/$name"
  cp -r "$work/source/." "$mnt/$name"
  ln -s a-target-of-odd-length "$mnt/$name/link"
  unmount_export
  diff -r --exclude=link "$work/source" "$export/$name"
  mount_export
  diff -r --exclude=link "$work/source" "$mnt/$name"
  same a-target-of-odd-length "$(readlink "$mnt/$name/link")" "symbolic link over $name"
  for i in $(seq 300); do : >"$mnt/$name/a-name-that-is-long-enough-to-matter-$i"; done
  same 309 "$(find "$mnt/$name" | grep -c "$name/")" "names over $name"
  # The server asks for the delegation: the callback goes through the proxy, in the other direction.
  exec 7<"$mnt/$name/3"
  control recall >/dev/null
  wait_for "a recall through the proxy" test "$(counter delegations_recalled 1)" != 0
  exec 7<&-
  # The server breaks its connection: the client's goes, too, and it comes back.
  control disconnect >/dev/null
  cat "$mnt/$name/4097" | cmp - "$work/source/4097"
  tell disconnect >/dev/null
  rm -r "${mnt:?}/$name"
  unmount_export
  mount_points=() mount_pids=()
  # While it goes on: no file ends within a packet.
  tell stats >/dev/null
  for captured in c s r; do
    "$lab" lint "$work/$name-$captured.pcapng" >"$work/said" || fail "$name-$captured, before its end: $(tail -n 3 "$work/said")"
  done
  end_proxy
  for captured in c s r; do
    "$lab" lint "$work/$name-$captured.pcapng" >"$work/said" || fail "$name-$captured: $(grep Seen "$work/said" | head -n 3)"
    grep -q '^connection 1: .*, [0-9]\{3,\} messages$' "$work/said" || fail "$name-$captured has no messages"
  done
  if command -v tshark >/dev/null; then
    same "" "$(tshark -n -r "$work/$name-r.pcapng" -Y '_ws.malformed' 2>/dev/null | head -n 3)" "malformed frames of $name"
  fi
}
carries iwarp iwarp
carries tcp iwarp
carries iwarp tcp

# Faults: what the client makes of each of them.
start_proxy iwarp iwarp
echo content >"$export/file"
mount_export noac
same "error: no command 'nonsense'; help lists them" "$(tell nonsense || true)" "an unknown command"
for fault in unstable=lost replay-cache=off; do
  grep -q "^error: ${fault%=*}: a proxy .*: tell nfsrdma-responder" <<<"$(tell fault $fault || true)" || fail "a proxy takes $fault"
done
grep -qx 'fault write=drop' <<<"$(tell help)" || fail "no help"
# seen FAULT COMMAND...: the command succeeds in spite of the fault, which has happened.
seen() {
  local fault=$1
  shift
  tell fault "$fault:times=1" >/dev/null
  timeout 60 "$@" >/dev/null || fail "$* with $fault"
  [ "$(tell stats | sed -n 's/^fault_.* //p' | head -n 1)" = 1 ] || fail "$fault did not happen"
  tell clear >/dev/null
}
reads() { dd if="$mnt/file" iflag=direct bs=4096 status=none | grep -qi content; }
export -f reads
export mnt
for fault in delay=50 delay-reply=50 duplicate-reply disconnect=before disconnect=after zero-grant nfsstat=NFS4ERR_DELAY \
  disconnect=before-send disconnect=after-send send-done=50 flags=CB_PATH_DOWN slots=highest:7,target:1; do
  seen "$fault:op=READ" bash -c reads
done
# A status that cannot be mended reaches the program, and the server is none the wiser.
tell fault nfsstat=NFS4ERR_NOSPC:op=WRITE >/dev/null
same ENOSPC "$(errno_of "os.write(os.open('$mnt/file', os.O_WRONLY | os.O_SYNC), b'CONTENT')")" "WRITE that is said to have failed"
same CONTENT "$(head -c 7 "$export/file")" "the file on the server"
tell clear >/dev/null
# Calls are held until they are let go.
tell stop >/dev/null
bash -c reads & reader=$!
kill -0 $reader || fail "a READ went through a proxy that holds calls"
tell continue >/dev/null
wait $reader || fail "a READ that was held"
# What no client sends does no harm: each row of the probe, and this mount goes on.
"$lab" probe "iwarp:127.0.0.1:$port" --risky --patience 1 >"$work/probe" 2>&1 || fail "probe: $(tail -n 1 "$work/probe")"
[ "$(wc -l <"$work/probe")" -gt 100 ] || fail "the probe says little: $(tail -n 1 "$work/probe")"
bash -c reads || fail "a READ after the probe"
unmount_export
end_proxy
status=0; "$lab" fault "$work/proxy" help >/dev/null 2>&1 || status=$?
same 3 $status "exit status without a proxy"
