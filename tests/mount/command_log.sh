#!/usr/bin/env bash
# The system log of a mount in the background: each line names the mount point, the first the server, counters come on USR1
# and the end of a trouble is said whatever the level, and so is what an option does not bring. With -v
# the terminal shows the beginning. Run as root, with a log socket in a private mount namespace.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
nfsrdma=$NFSRDMA_BIN/nfsrdma
[ "$(id -u)" -eq 0 ] || skip "needs root for a /dev of its own"
unshare -m true 2>/dev/null || skip "no mount namespaces"
mkdir "$work/dev"
cp -a /dev/null /dev/urandom /dev/fuse "$work/dev/" || skip "no device nodes in $work"
start_responder
export work

python3 - "$work/dev/log" >"$work/log" 2>/dev/null <<'EOF' &
import socket, sys
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind(sys.argv[1])
while True:
    print(log.recv(65536).decode(), flush=True)
EOF
listener=$!
leave() {
  local status=$?
  kill "$listener" 2>/dev/null || true
  clean_up $status
}
trap leave EXIT
wait_for "the log socket" test -S "$work/dev/log"

mount_there() {
  unshare -m --propagation private sh -c 'mount --bind "$work/dev" /dev; exec "$@"' sh \
    "$nfsrdma" "$@" 127.0.0.1:/ "$mnt" 2>&1
}
logged() { grep -q "nfsrdma\[$pid\]: $mnt: $1" "$work/log"; }
end() {
  kill -TERM "$pid"
  wait_for "the program's end" gone "$pid"
}

same "nfsrdma: nconnect has no effect: one connection is used" \
  "$(mount_there -o "port=$port,nconnect=8,noresvport")" "what a mount says of an option that is missed"
pid=$(daemon)
wait_for "the same in the log" logged "nconnect has no effect"
! logged "noresvport" || fail "the log has what no user misses"
wait_for "what is mounted" logged "127.0.0.1:/ is mounted, by process $pid"
kill -USR1 "$pid"
wait_for "counters in the log" logged "counter fuse_requests_init 1"
control disconnect >/dev/null
nsenter -m -t "$pid" ls "$mnt" >/dev/null
wait_for "the loss in the log" logged ".*next attempt in"
wait_for "its end in the log" logged ".*connected again"
end

mount_there -v -o "port=$port,noresvport" >"$work/said"
pid=$(daemon)
for words in "nfsrdma: noresvport has no effect" "nfsrdma: provider iwarp to" "nfsrdma: connected: " \
  "is mounted, by process $pid"; do
  grep -q "$words" "$work/said" || fail "-v does not say '$words': $(cat "$work/said")"
done
end
