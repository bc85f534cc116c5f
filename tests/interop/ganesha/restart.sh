#!/usr/bin/env bash
# NFS-Ganesha is restarted in order, and killed and started again, under a mount with open files and a
# copy going on: descriptors go on, the data arrives once, nothing fails.
. "$(dirname "$0")/../../mount/lib.sh"
. "$here/../interop/ganesha/server.sh"
need_ganesha vfs
start_ganesha vfs
mount_export

seq 100000 >"$mnt/reader"
mkdir "$mnt/dir"
exec 5<"$mnt/reader" 6>"$mnt/writer"
head -c 30000000 /dev/urandom >"$work/source"
for how in stop_ganesha kill_ganesha; do
  cp "$work/source" "$mnt/copy" &
  copying=$!
  wait_for "the copy to begin" test -s "$export/copy"
  $how
  # Waits for the server, as a hard mount does.
  touch "$mnt/dir/$how" &
  touching=$!
  start_ganesha vfs
  wait $touching || fail "$how: a create that waited for the server"
  head -n 1 <&5 >/dev/null || fail "$how: a file that was open for reading"
  echo "after $how" >&6 || fail "$how: a file that was open for writing"
  wait $copying || fail "$how: the copy"
  cmp "$work/source" "$export/copy" || fail "$how: the copy at the server"
  rm "$mnt/copy"
  same "$(ls "$export/dir")" "$(ls "$mnt/dir")" "$how: names"
done
exec 5<&- 6>&-
same "$(printf 'after stop_ganesha\nafter kill_ganesha')" "$(cat "$export/writer")" "what was written"
same 3 "$(counter recovery_client_ids)" "client ids: of the mount and of two restarts"
[ "$(counter opens_reclaimed)" -ge 4 ] || fail "the open files were not reclaimed"
unmount_export
