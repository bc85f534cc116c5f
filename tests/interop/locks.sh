#!/usr/bin/env bash
# Locks between two clients of knfsd. Usage: locks.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
use_knfsd "$1" "$2"
second=$work/second
mount_export
mount_export "" "$second"
timeout 300 python3 "$interop/../mount/locks_of_two_clients.py" "$mnt" "$second" || fail "see above"
