#!/usr/bin/env bash
# Callers whom /proc does not show to the program: in another pid namespace, with hidepid=, and
# without /proc. They have no supplementary groups, a signal that they handle does not disturb them as
# long as the server answers, and one that ends them does so in bounded time.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root for namespaces and other users"
if [ -z "${NFSRDMA_NAMESPACE:-}" ]; then
  cd / && rm -rf "$work"
  NFSRDMA_NAMESPACE=1 exec unshare -m --propagation private bash "$here/$(basename "$0")"
fi
gone() { ! kill -0 "$1" 2>/dev/null || [ "$(cut -d' ' -f3 "/proc/$1/stat")" = Z ]; }
leave() {
  local status=$?
  kill -KILL "${daemon:-}" 2>/dev/null || true
  umount -l "$mnt" 2>/dev/null || true
  clean_up $status
}
trap leave EXIT
chmod 755 "$work"
cp "$NFSRDMA_BIN/nfsrdma" "$work/nfsrdma"
start_responder
echo for the group >"$export/file"
chgrp 4242 "$export/file"
chmod 640 "$export/file"
touch "$export/lists"
as_member() { setpriv --reuid $ordinary_user --regid $ordinary_user --groups 4242 "$@"; }

# run NAME command...: the program started by the command, which makes the namespace; sets $daemon.
run() {
  local name=$1
  shift
  "$@" "$work/nfsrdma" -f -o "port=$port,allow_other,noac" 127.0.0.1:/ "$mnt" 2>"$work/$name.log" &
  daemon=$!
  wait_for "the mount $name" grep -q 'is mounted' "$work/$name.log"
}
# ends NAME: the program of that name, whatever started it.
ends() {
  local status=0
  umount "$mnt"
  wait_for "the end of $1" gone "$daemon"
  wait "$daemon" || status=$?
  same 0 $status "exit status of $1"
  same "$2" "$(grep -c 'that /proc does not show' "$work/$1.log")" "words of $1 about hidden callers"
}

# Seen: the group counts.
run seen env
same "for the group" "$(as_member cat "$mnt/file")" "a file by its group"
ends seen 0

# A signal every 50 ms, handled, while the server says nothing for half a second.
cat >"$work/alarmed" <<'PY'
import os, signal, sys
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
print("ready", flush=True)
os.listdir(sys.argv[1])
signal.setitimer(signal.ITIMER_REAL, 0)
PY
# signals NAME: what a hidden caller's signals do.
signals() {
  same ok "$(control stop)" "stop"
  python3 "$work/alarmed" "$mnt" >"$work/alarmed.out" 2>&1 &
  local caller=$!
  wait_for "the caller" grep -q ready "$work/alarmed.out"
  sleep 0.5  # not to pass sooner, but for signals to come meanwhile
  same ok "$(control continue)" "continue"
  wait $caller || fail "$1: a signal that is handled disturbs: $(cat "$work/alarmed.out")"
  same ok "$(control stop)" "stop"
  ls "$mnt" >/dev/null 2>&1 &
  caller=$!
  wait_for "the request" grep -q . "/proc/$caller/stat"
  kill -KILL $caller
  wait_for "the end of a killed caller" gone $caller
  wait $caller 2>/dev/null || true
  same ok "$(control continue)" "continue"
}

# Hidden by another pid namespace: here the program has one of its own, and its callers are outside.
run namespace unshare -p --fork --kill-child
refused "Permission denied" as_member cat "$mnt/file"
signals namespace
ends namespace 1

# Hidden by hidepid=, from the program of an ordinary user.
echo user_allow_other >"$work/fuse.conf"
mount --bind "$work/fuse.conf" /etc/fuse.conf
mount -t proc -o hidepid=2 proc /proc
chown $ordinary_user "$mnt"
run hidepid setpriv --reuid $ordinary_user --regid $ordinary_user --clear-groups --inh-caps=-all
as_other() { setpriv --reuid 65533 --regid 65533 --groups 4242 "$@"; }
chmod 644 "$export/file"
same "for the group" "$(as_other cat "$mnt/file")" "a file that everybody may read"
signals hidepid
ends hidepid 1
umount /proc

# Hidden because there is no /proc. The program ends as it should without it, too.
mount --bind "$mnt" "$mnt"
mount --make-shared "$mnt"
chmod 640 "$export/file"
# The leak detector of ASan needs /proc, and ASan reads there that it is not wanted.
run without unshare -m --propagation unchanged sh -c 'mount -t tmpfs none /proc && mount -t tmpfs none /sys &&
  mkdir /proc/self && printf "ASAN_OPTIONS=detect_leaks=0\0" >/proc/self/environ && exec "$@"' sh
refused "Permission denied" as_member cat "$mnt/file"
kill -TERM "$daemon"
wait_for "the end without /proc" gone "$daemon"
wait "$daemon" || fail "it ended with status $?"
grep -q 'that /proc does not show' "$work/without.log" || fail "$(cat "$work/without.log")"
findmnt -n -t fuse.nfsrdma "$mnt" && fail "the mount was left"
umount "$mnt"
