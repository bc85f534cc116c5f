#!/usr/bin/env bash
# allow_other with nodefault_permissions: the server alone decides. What only an ACL permits is permitted, and
# no user gets past a directory because the kernel remembers what is in it for another one.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to be two users"
. "$here/server_decides_lib.sh"
start_responder
chmod 755 "$work"
export_for_some

mount_export allow_other
refused "Permission denied" as_other cat "$mnt/by_acl"
unmount_export

mount_export allow_other,nodefault_permissions
grep -q default_permissions <<<"$(findmnt -no OPTIONS "$mnt")" && fail "the kernel checks"
decided_by_server
