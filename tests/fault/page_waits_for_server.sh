#!/usr/bin/env bash
# A page waits for a READ that is never answered, and must be dropped because the file has changed. The
# kernel waits for such a page uninterruptibly. Nothing else may have to wait for it: other files that
# have changed can be opened and read, and a daemon that is killed ends.
. "$(dirname "$0")/lib.sh"
start_responder
head -c 8M /dev/zero >"$export/file"
echo old >"$export/other"
mount_export
head -c 1 "$mnt/file" >"$work/begin"
[ "$(cat "$mnt/other")" = old ] || fail "wrong data"

id=$(fault delay=3600000:op=READ:times=1)
tail -c 1 "$mnt/file" >"$work/first" 2>&1 &
first=$!
expect_delayed "$id"
echo more >>"$export/file"
opens=$(served OPEN)
head -c 1 "$mnt/file" >"$work/second" 2>&1 &
second=$!
opened_again() { [ "$(served OPEN)" -gt "$opens" ]; }
wait_for "another OPEN" opened_again

echo new >"$export/other"
other=$(timeout 60 cat "$mnt/other") || fail "another file cannot be read"
[ "$other" = new ] || fail "another file is not seen to have changed"

kill -KILL "${mount_pids[0]}"
expect_end "a thread of the daemon does not end"
same $((128 + 9)) "$ended_with" "its exit status"
wait "$first" && fail "the first reader was given data that never came"
wait "$second" && fail "the second reader was given data"
exit 0
