#!/usr/bin/env bash
# SQLite: two mounts write one database at the same time, in the mode with a rollback journal, which is the one that works between clients;
# no row is lost, and each finds the database whole. In WAL mode one mount does the same with two processes.
. "$(dirname "$0")/lib.sh"
needs sqlite3 sqlite3
start_responder
second=$work/second
mount_export
mount_export "" "$second"

rows=40
# add DATABASE WHO: rows one by one, each a transaction.
add() {
  for i in $(seq $rows); do
    echo ".timeout 120000"
    echo "BEGIN IMMEDIATE; INSERT INTO t VALUES ('$2', $i, randomblob(3000)); UPDATE n SET count = count + 1; COMMIT;"
  done | sqlite3 -bail "$1" >"$work/$2.said" 2>&1
}
make() { sqlite3 "$1" "PRAGMA journal_mode=$2; CREATE TABLE t (who TEXT, i INTEGER, data BLOB); CREATE TABLE n (count INTEGER); INSERT INTO n VALUES (0);" >/dev/null; }
# whole DATABASE WHO...: it is, and has all that they have added.
whole() {
  local database=$1 who
  shift
  same ok "$(sqlite3 "$database" "PRAGMA integrity_check;")" "integrity of $database"
  same $(($# * rows)) "$(sqlite3 "$database" "SELECT count FROM n;")" "what was counted in $database"
  for who in "$@"; do same $rows "$(sqlite3 "$database" "SELECT count(*) FROM t WHERE who = '$who' AND length(data) = 3000;")" "rows of $who"; done
}

make "$mnt/both.db" delete
add "$mnt/both.db" first &
one=$!
add "$second/both.db" second &
other=$!
wait $one || fail "the first mount: $(cat first.said)"
wait $other || fail "the second mount: $(cat second.said)"
for at in "$mnt" "$second" "$export"; do whole "$at/both.db" first second; done

make "$mnt/wal.db" wal
add "$mnt/wal.db" third &
one=$!
add "$mnt/wal.db" fourth &
other=$!
wait $one || fail "the first process: $(cat third.said)"
wait $other || fail "the second process: $(cat fourth.said)"
whole "$mnt/wal.db" third fourth
sqlite3 "$mnt/wal.db" "VACUUM; PRAGMA wal_checkpoint(TRUNCATE);" >/dev/null
whole "$second/wal.db" third fourth
