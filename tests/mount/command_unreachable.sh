#!/usr/bin/env bash
# A server that cannot be reached or does not give what is asked for: exit code 32, one line that
# names server, step and status, and what to do (U10).
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
nfsrdma=$NFSRDMA_BIN/nfsrdma

expect 32 "nosuchhost.invalid:/: resolve server name (nosuchhost.invalid:" \
  "$nfsrdma" nosuchhost.invalid:/ "$mnt"

# A port that no program listens on: bound, so that no other gets it.
python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True); time.sleep(600)' \
  >"$work/closed_port" 2>/dev/null &
holder=$!
wait_for "a port" test -s "$work/closed_port"
expect 32 "connection refused: nothing listens there" \
  "$nfsrdma" -o "port=$(cat "$work/closed_port")" 127.0.0.1:/ "$mnt"
kill $holder

# A port of something else: it answers, but not as an RDMA provider does.
python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(8); print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    c.sendall(b"220 this is a mail server, not an RDMA provider\r\n"); c.close()' >"$work/other_port" 2>/dev/null &
other=$!
wait_for "a port" test -s "$work/other_port"
expect 32 "is this the port of NFS over" \
  "$nfsrdma" -o "port=$(cat "$work/other_port")" 127.0.0.1:/ "$mnt"
kill $other

# A name with two addresses: nothing listens at the first, and at the second something that hangs up, as a server of NFS over TCP does.
# What is said is true of the second one. The name stands in a hosts file that this command alone sees.
printf '::1 two-addresses\n127.0.0.1 two-addresses\n' >"$work/hosts"
with_hosts=(unshare -m --propagation private sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$work/hosts")
if [ "$(id -u)" -eq 0 ] && [ "$("${with_hosts[@]}" getent ahosts two-addresses 2>/dev/null | awk '{ print $1; exit }')" = ::1 ]; then
  python3 -c 'import socket
one = socket.socket(socket.AF_INET6); one.bind(("::1", 0)); port = one.getsockname()[1]
other = socket.socket(); other.bind(("127.0.0.1", port)); other.listen(8); print(port, flush=True)
while True:
    c, _ = other.accept()
    c.recv(1); c.close()' >"$work/half_port" 2>/dev/null &
  half=$!
  wait_for "a port" test -s "$work/half_port"
  half_port=$(cat "$work/half_port")
  expect 32 "127.0.0.1:$half_port" "${with_hosts[@]}" "$nfsrdma" -o "port=$half_port" two-addresses:/ "$mnt"
  grep -qF "is this the port of NFS over" "$work/said.err" || fail "no remedy: $(cat "$work/said.err")"
  kill $half
else
  echo "not tried: two addresses (needs root, a mount namespace and IPv6)"
fi

if [ "$(id -u)" -eq 0 ] && unshare -n true 2>/dev/null; then
  expect 32 "Network is unreachable" unshare -n "$nfsrdma" 192.0.2.1:/ "$mnt"
else
  echo "not tried: no route (needs a network namespace)"
fi

start_responder
echo file >"$export/file"
mkdir "$export/behind"
ln -s behind "$export/link"
expect 32 "127.0.0.1:/nothing: LOOKUP export: NFS4ERR_NOENT" \
  "$nfsrdma" -o "port=$port" 127.0.0.1:/nothing "$mnt"
grep -qF "no such export" "$work/said.err" || fail "no remedy: $(cat "$work/said.err")"
expect 32 "LOOKUP export: Not a directory (/file; the export must be a directory)" "$nfsrdma" -o "port=$port" 127.0.0.1:/file "$mnt"
for path in /link /link/below; do
  expect 32 "LOOKUP export: Not a directory (/link is a symbolic link: name what it leads to; the export must be a directory)" \
    "$nfsrdma" -o "port=$port" "127.0.0.1:$path" "$mnt"
done
control "fault nfsstat=NFS4ERR_ACCESS:op=PUTROOTFH:times=1" >/dev/null
expect 32 "NFS4ERR_ACCESS" "$nfsrdma" -o "port=$port" 127.0.0.1:/ "$mnt"
grep -qF "does not allow it" "$work/said.err" || fail "no remedy: $(cat "$work/said.err")"
control clear >/dev/null
control "fault nfsstat=NFS4ERR_MINOR_VERS_MISMATCH:op=EXCHANGE_ID" >/dev/null
expect 32 "EXCHANGE_ID: NFS4ERR_MINOR_VERS_MISMATCH" "$nfsrdma" -o "port=$port" 127.0.0.1:/ "$mnt"
grep -qF "does not speak NFSv4.1" "$work/said.err" || fail "no remedy: $(cat "$work/said.err")"
