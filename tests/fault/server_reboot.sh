#!/usr/bin/env bash
# The server reboots while files are open and being written, with a grace period and without: the
# descriptors go on, the data arrives once, nothing fails.
. "$(dirname "$0")/lib.sh"
start_responder --lease 5
mount_export
seq 100000 >"$export/reader"
exec 5<"$mnt/reader" 6>"$mnt/writer"

# reboot SECONDS: while a copy runs, and with descriptors that stay open.
reboot() {
  head -c 8M /dev/urandom >"$work/source"
  cp "$work/source" "$mnt/copy" &
  local copy=$!
  control reboot "$1" >/dev/null
  head -n 1 <&5 >/dev/null || fail "a file that was open for reading, grace $1"
  echo "after $1" >&6 || fail "a file that was open for writing, grace $1"
  wait "$copy" || fail "cp, grace $1"
  cmp "$work/source" "$export/copy" || fail "the copy, grace $1"
  rm "$mnt/copy"
}

for round in 1 2 3; do
  reboot 0
  reboot 1
done
exec 5<&- 6>&-
expected=$(for round in 1 2 3; do printf 'after 0\nafter 1\n'; done)
[ "$(cat "$export/writer")" = "$expected" ] || fail "wrong data: $(cat "$export/writer")"
expect_alive
