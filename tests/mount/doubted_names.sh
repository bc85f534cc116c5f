#!/usr/bin/env bash
# Names that the kernel remembers are looked up again when this client knows that the directory is another
# one: its listing has a name that was missing, or has not one that was there, or its change attribute
# comes with something else. Nothing times out meanwhile, and own changes cost no look-ups.
counts_caches=yes
. "$(dirname "$0")/lib.sh"
mkdir "$export/d" "$export/e"
touch "$export"/d/{kept,removed} "$export"/e/{kept,removed}
start_responder
mount_export actimeo=600
mount_export actimeo=600,nordirplus "$work/plain"
plain=$work/plain
missing() { [ ! -e "$1" ]; }

# Listed by a listing without attributes.
missing "$plain/d/new" || fail "new is early"
touch "$export/d/new"
missing "$plain/d/new" || fail "a missing name is remembered"
same "kept new removed" "$(ls "$plain/d" | xargs)" "what is listed"
wait_for "a name that is listed" cat "$plain/d/new"

# Not listed any more.
for at in "$mnt" "$plain"; do
  touch "$export/d/removed"
  ls -l "$at/d" >/dev/null
  stat "$at/d/removed" "$at/d/kept" >/dev/null
  rm "$export/d/removed"
  [ -e "$at/d/removed" ] || fail "a name is not remembered"
  ls "$at/d" | grep removed && fail "listed after it was removed"
  wait_for "a name that is not listed" missing "$at/d/removed"
  before=$(served LOOKUP)
  stat "$at/d/kept" >/dev/null
  same "$before" "$(served LOOKUP)" "LOOKUP: a name that is listed"
done

# The directory's change attribute, from the listing of its parent.
stat "$mnt/e/removed" "$mnt/e/kept" >/dev/null
missing "$mnt/e/new" || fail "new is early"
rm "$export/e/removed"
touch "$export/e/new"
ls -l "$mnt" >/dev/null
wait_for "a name of a directory that has changed" missing "$mnt/e/removed"
wait_for "a missing name of a directory that has changed" test -e "$mnt/e/new"

# Own changes: what is not theirs stays remembered.
mkdir "$mnt/own"
touch "$mnt/own/"{1,2,3}
stat "$mnt/own/1" >/dev/null
before=$(served LOOKUP)
touch "$mnt/own/4"
rm "$mnt/own/3"
after=$(served LOOKUP)
stat "$mnt/own" "$mnt/own/1" "$mnt/own/2" "$mnt/own/4" >/dev/null
same "$after" "$(served LOOKUP)" "LOOKUP: names beside own changes"
