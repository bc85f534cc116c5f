#!/usr/bin/env bash
# Eight processes at once make, write, rename, read and remove files, in directories of their own and in
# a shared one.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

work_hard() {
  local p=$1 i
  mkdir "$mnt/own$p"
  for i in $(seq 25); do
    head -c $((i * 5000)) /dev/urandom >"$work/data$p"
    cp "$work/data$p" "$mnt/own$p/f$i"
    cp "$work/data$p" "$mnt/shared/p$p-$i.tmp"
    mv "$mnt/shared/p$p-$i.tmp" "$mnt/shared/p$p-$i"
    cmp "$work/data$p" "$mnt/own$p/f$i" || return 1
    cmp "$work/data$p" "$mnt/shared/p$p-$i" || return 1
    ls -l "$mnt/shared" >/dev/null 2>&1 || true  # names go while it looks at them
    [ $((i % 3)) -ne 0 ] || rm "$mnt/own$p/f$i"
  done
}
mkdir "$mnt/shared"
pids=()
for p in $(seq 8); do
  work_hard "$p" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a process failed"; done
same 200 "$(ls "$mnt/shared" | wc -l)" "files in the shared directory"
same 136 "$(find "$mnt" -path '*own*' -type f | wc -l)" "files left in the own directories"
diff -r "$export" "$mnt"
