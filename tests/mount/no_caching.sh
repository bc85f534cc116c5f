#!/usr/bin/env bash
# noac and lookupcache=none: another client's changes of names and attributes are seen at once.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
mount_export "noac,lookupcache=none" "$work/mnt2"
other=$work/mnt2

for i in $(seq 10); do
  [ ! -e "$other/f$i" ] || fail "f$i is there too early"
  echo "$i" >"$mnt/f$i"
  [ -e "$other/f$i" ] || fail "f$i is not seen"
  chmod 600 "$mnt/f$i"
  same 600 "$(stat -c %a "$other/f$i")" "mode"
  truncate -s "$i" "$mnt/f$i"
  same "$i" "$(stat -c %s "$other/f$i")" "size"
  rm "$mnt/f$i"
  [ ! -e "$other/f$i" ] || fail "f$i is still there"
done

# By default a name that was missed is remembered for a while, but never one this mount makes.
[ ! -e "$mnt/late" ] || fail "late is early"
touch "$mnt/late"
[ -e "$mnt/late" ] || fail "late is not seen where it was made"
