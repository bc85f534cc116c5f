#!/usr/bin/env bash
# A page waits for a READ that is never answered, and is to be dropped, because the file has changed. The
# kernel waits for such a page uninterruptibly; nothing else may have to: other files that have changed
# are opened and read, and a daemon that is killed ends.
. "$(dirname "$0")/lib.sh"
start_responder --not-durable
head -c 8M /dev/zero >"$export_dir/file"
echo old >"$export_dir/other"
start_mount
head -c 1 "$mnt/file" >"$work/begin"
[ "$(cat "$mnt/other")" = old ] || fail "wrong data"

id=$(control fault delay=3600000:op=READ:times=1 | sed 's/ok //')
tail -c 1 "$mnt/file" >"$work/first" 2>&1 &
first=$!
expect_delayed "$id"
echo more >>"$export_dir/file"
opens=$(counter op_OPEN)
head -c 1 "$mnt/file" >"$work/second" 2>&1 &
second=$!
for _ in $(seq 200); do
  [ "$(counter op_OPEN)" -gt "$opens" ] && break
  sleep 0.05
done
[ "$(counter op_OPEN)" -gt "$opens" ] || fail "the file was not opened again"

echo new >"$export_dir/other"
other=$(timeout 60 cat "$mnt/other") || fail "another file cannot be read"
[ "$other" = new ] || fail "another file is not seen to have changed"

kill -KILL "$daemon"
expect_end "a thread of the daemon does not end"
wait "$daemon" && fail "it was not killed"
wait "$first" && fail "the first reader was given data that never came"
wait "$second" && fail "the second reader was given data"
exit 0
