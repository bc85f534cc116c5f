#!/usr/bin/env bash
# knfsd sends owners as user@domain, through its rpc.idmapd, and takes no numbers (RFC 8881 section
# 5.9): they are seen right at the first look, and chown works. And new files have the times of their
# creation, though knfsd keeps the verifier of an exclusive create there.
# Usage: owners.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
use_knfsd "$1" "$2"
there=/export$2 idmapping=/sys/module/nfsd/parameters/nfs4_disable_idmapping

mount_export
mkdir "$mnt/times"
python3 "$interop/../mount/created_times.py" "$mnt/times"
same "$(guest_run "stat -c '%X %Y' $there/times/exclusive")" "$(stat -c '%X %Y' "$mnt/times/exclusive")" "times at the server"
unmount_export

# The other cells want numbers.
numbers_again() { guest_run "echo Y >$idmapping; kill \$(pidof rpc.idmapd)"; }
trap 'failed=$?; set +e; numbers_again; (exit $failed); finish_cell' EXIT
guest_run "printf '[General]\nDomain = interop.example\n[Mapping]\nNobody-Group = nogroup\n' >/etc/idmapd.conf && echo N >$idmapping &&
  rpc.idmapd -S -p /var/lib/nfs/rpc_pipefs && cd $there && touch of-bin given &&
  chown bin:games of-bin"

mount_export domain=interop.example
same "bin games" "$(stat -c '%U %G' "$mnt/of-bin")" "an owner by name"
same "root root" "$(stat -c '%U %G' "$mnt/given")" "root by name"
chown bin:games "$mnt/given"
same "bin games" "$(guest_run "stat -c '%U %G' $there/given")" "chown at the server"
same "bin games" "$(stat -c '%U %G' "$mnt/given")" "chown here"
refused "Invalid argument" chown 434343 "$mnt/given"
unmount_export

mount_export domain=other.example
same "65534 65534" "$(stat -c '%u %g' "$mnt/of-bin")" "an owner of another domain"
unmount_export
