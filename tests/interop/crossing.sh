#!/usr/bin/env bash
# The root of the server, and what is mounted there on its side: file systems of their own, with
# inode numbers of their own. Usage: crossing.sh TRANSPORT
. "$(dirname "$0")/lib.sh"
use_knfsd "$1" /
guest_run 'for fs in tmpfs ext4 xfs; do echo $fs >/export/$fs/which; done'
mount_export
for fs in tmpfs ext4 xfs; do
  same $fs "$(cat "$mnt/$fs/which")" "which file system /$fs is"
  echo written >"$mnt/$fs/new"
  same written "$(guest_run "cat /export/$fs/new")" "what the server has of /$fs/new"
  same directory "$(stat -c %F "$mnt/$fs")" "type of /$fs"
done
same "ext4 secure tmpfs xfs" "$(ls "$mnt" | paste -sd' ')" "names in /"
same 6 "$(find "$mnt"/{tmpfs,ext4,xfs} -maxdepth 1 -type f -name 'new' -o -type f -name 'which' | wc -l)" "files found"
rm "$mnt"/{tmpfs,ext4,xfs}/{new,which}
