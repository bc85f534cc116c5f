#!/usr/bin/env bash
# restic: a repository on the mount takes backups of two mounts at the same time, checks its data, forgets one, and gives the other back.
. "$(dirname "$0")/lib.sh"
needs restic restic
start_responder
second=$work/second
mount_export
mount_export "" "$second"
export RESTIC_PASSWORD=password RESTIC_CACHE_DIR=$work/restic
mkdir -p tree/below
for i in $(seq 50); do head -c $((i * 1031)) /dev/urandom >tree/below/file$i; done
restic -q -r "$mnt/repository" init
restic -q -r "$mnt/repository" backup --tag one tree &
one=$!
restic -q -r "$second/repository" backup --tag two tree || fail "the second mount"
wait $one || fail "the first mount"
restic -q -r "$mnt/repository" check --read-data
restic -q -r "$mnt/repository" forget --tag one --keep-last 1 --prune
restic -q -r "$second/repository" check --read-data
restic -q -r "$second/repository" restore latest --tag two --target back
diff -r tree "back$PWD/tree" 2>/dev/null || diff -r tree back/tree
