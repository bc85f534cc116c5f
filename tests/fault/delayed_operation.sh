#!/usr/bin/env bash
# One READ takes ten minutes; a thousand other operations go on meanwhile. It is freed in the end by
# breaking the connection: the client sends it again. SIGUSR1 says what waits for what, and what it took.
. "$(dirname "$0")/lib.sh"
start_responder
head -c 20000 /dev/urandom >"$export/slow"  # more than comes with its OPEN
mkdir "$export/many"
for i in $(seq 500); do echo "$i" >"$export/many/$i"; done
mount_export

# logged EXPRESSION: the mount's log gets such a line.
logged() { wait_for "the line $1" grep -qE "$1" "$work/mount0.log"; }

id=$(fault delay=600000:op=READ:times=1)
cat "$mnt/slow" >"$work/slow" &
slow=$!
expect_delayed "$id"
kill -USR1 "${mount_pids[0]}"
logged "waiting request [0-9]+: read of inode [0-9]+ by process [0-9]+ began [0-9.]+ s ago"
logged "waiting READ xid 0x[0-9a-f]+ slot 0 for request [0-9]+ began [0-9.]+ s ago, waits for the server's answer"
logged "counter nfs_OPEN_rtt_us_p50 [0-9]+"
cat "$mnt"/many/* >"$work/all"
for i in $(seq 500); do : >"$mnt/new$i"; done
kill -0 "$slow" 2>/dev/null || fail "the slow READ was over before the others"
control disconnect >/dev/null
wait "$slow" || fail "the slow READ"
cmp "$export/slow" "$work/slow" || fail "wrong data"
[ "$(wc -l <"$work/all")" = 500 ] || fail "wrong data of the others"
kill -USR1 "${mount_pids[0]}"
logged "ended READ xid .* for request [0-9]+: slot .*; NFS4_OK; sent 2 times"
logged "ended request [0-9]+: read of inode .* errno 0"
expect_alive
