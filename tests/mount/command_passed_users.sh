#!/usr/bin/env bash
# /dev/fd/N, mounted for all users by a program that says nothing of that to nfsrdma: no user acts with the groups of the
# program, and each of them gets what the server gives him.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
. "$here/server_decides_lib.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can mount(2) for the program"
start_responder
chmod 755 "$work"
. "$here/passed_device_lib.sh"
export_for_some
mkdir "$export/groups"
echo shared >"$export/groups/file"
chgrp $group_of_program "$export/groups/file" "$export/groups"
chmod 640 "$export/groups/file"
chmod 750 "$export/groups"

# serve [OPTION...]: serves $mnt in the foreground.
serve() {
  "${pass[@]}" -f -o "port=$port${1:+,$1}" >foreground.log 2>&1 &
  pid=$!
  wait_for "the mount" grep -q 'is mounted, by process' foreground.log
  grep -qx "Groups:[[:space:]]*$group_of_program *" "/proc/$pid/status" || fail "the program's groups"
}
end() {
  umount "$mnt"
  wait $pid || fail "exit code $? after umount: $(cat foreground.log)"
}

serve
as_group() { setpriv --reuid 65533 --regid 65533 "$@"; }
same shared "$(as_group --groups $group_of_program cat "$mnt/groups/file")" "a file of the caller's group"
refused "Permission denied" as_group --clear-groups cat "$mnt/groups/file"
refused "Permission denied" as_group --clear-groups ls "$mnt/groups"
decided_by_server
end

# That the kernel checks is believed when it is said: then names are kept for all users.
serve default_permissions
before=$(served lookup)
for _ in 1 2 3; do stat "$mnt/dir_by_acl" >/dev/null; done
[ $(($(served lookup) - before)) -le 1 ] || fail "a name that the kernel may keep is looked up each time"
end
