#!/usr/bin/env bash
# The server stops answering, loses its connections meanwhile, and goes on: callers wait and then
# get what they asked for. A caller that is killed is free at once.
. "$(dirname "$0")/lib.sh"
start_responder
head -c 20000 /dev/urandom >"$export/file"  # more than comes with its OPEN
mount_export
# Opened before: a lookup would wait in the kernel behind the mkdirs, where no signal reaches it.
exec 5<"$mnt/file"

control stop >/dev/null
for i in 1 2 3; do
  mkdir "$mnt/dir$i" &
  eval "pid$i=$!"
done
cat <&5 >/dev/null &
victim=$!
sleep 1
for pid in "$pid1" "$pid2" "$pid3"; do
  kill -0 "$pid" 2>/dev/null || fail "a call ended although the server does not answer"
done
kill -9 "$victim"
wait "$victim" 2>/dev/null && fail "the killed reader succeeded"
control disconnect >/dev/null
sleep 1
control continue >/dev/null
for pid in "$pid1" "$pid2" "$pid3"; do wait "$pid" || fail "a call failed"; done
for i in 1 2 3; do [ -d "$export/dir$i" ] || fail "dir$i is missing"; done
exec 5<&-
cmp "$export/file" "$mnt/file" || fail "wrong data"
expect_alive
