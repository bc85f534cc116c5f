#!/usr/bin/env bash
# fcntl and flock locks hold between two mounts, that is two clients: conflicts, waiting, signals,
# release at close and death, and what was written under a lock is seen under the next.
. "$(dirname "$0")/lib.sh"
start_responder
second=$work/second
mount_export
mount_export "" "$second"
timeout 100 python3 "$here/locks_of_two_clients.py" "$mnt" "$second" || fail "see above"
