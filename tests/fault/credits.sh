#!/usr/bin/env bash
# Credits fall and rise under load; the grant of zero, which no server may send, once in between.
. "$(dirname "$0")/lib.sh"
start_responder --credits 64
mount_export
head -c 33554432 /dev/urandom >"$work/data"

pids=
for i in 1 2 3 4; do
  (cp "$work/data" "$mnt/copy$i" && cmp "$work/data" "$mnt/copy$i") &
  pids="$pids $!"
done
for credits in 1 64 2 32 1 128; do
  control fault "credits=$credits" >/dev/null
  control fault zero-grant:times=1 >/dev/null
  sleep 0.2
done
for pid in $pids; do wait "$pid" || fail "a copy under changing credits"; done

# The client learns of a lower level with a reply, so calls that were under way may exceed it once;
# with a level that stays nothing may.
control clear >/dev/null
control fault credits=2 >/dev/null
cat "$mnt/copy1" >/dev/null
stat "$mnt" >/dev/null
before=$(server_counter credit_overruns)
pids=
for i in 1 2 3 4; do
  dd if="$mnt/copy$i" of=/dev/null bs=1M iflag=direct 2>/dev/null &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid" || fail "reading with two credits"; done
[ "$(server_counter credit_overruns)" = "$before" ] || fail "the client overran its grant"
expect_alive
