#!/usr/bin/env bash
# One READ takes ten minutes; a thousand other operations go on meanwhile. It is freed in the end by
# breaking the connection: the client sends it again.
. "$(dirname "$0")/lib.sh"
start_responder
echo slow >"$export/slow"
mkdir "$export/many"
for i in $(seq 500); do echo "$i" >"$export/many/$i"; done
mount_export

id=$(fault delay=600000:op=READ:times=1)
cat "$mnt/slow" >"$work/slow" &
slow=$!
expect_delayed "$id"
cat "$mnt"/many/* >"$work/all"
for i in $(seq 500); do : >"$mnt/new$i"; done
kill -0 "$slow" 2>/dev/null || fail "the slow READ was over before the others"
control disconnect >/dev/null
wait "$slow" || fail "the slow READ"
[ "$(cat "$work/slow")" = slow ] || fail "wrong data"
[ "$(wc -l <"$work/all")" = 500 ] || fail "wrong data of the others"
expect_alive
