#!/usr/bin/env bash
# Who may use a mount: only the one who mounts, or with allow_other everybody, each with his own
# rights at the server (U9).
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to be two users"
start_responder
chmod 755 "$work"
chmod 777 "$export"
echo secret >"$export/roots"
chmod 600 "$export/roots"
as_other() { setpriv --reuid $ordinary_user --regid $ordinary_user --clear-groups "$@"; }

mount_export
refused "Permission denied" as_other ls "$mnt"
unmount_export

mount_export allow_other
as_other ls "$mnt" >/dev/null
refused "Permission denied" as_other cat "$mnt/roots"
as_other sh -c "echo mine >'$mnt/mine'"
same $ordinary_user "$(stat -c %u "$export/mine")" "the owner at the server"
grep -q default_permissions <<<"$(findmnt -no OPTIONS "$mnt")" || fail "no default_permissions"
