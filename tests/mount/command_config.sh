#!/usr/bin/env bash
# config=FILE: what the sections for all, for the server and for the mount point say holds; the command line holds before.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
start_responder
cat >config <<CONF
[ NFSMount_Global_Options ]
ro
port=1
[ Server "127.0.0.1" ]
port=$port
[ MountPoint "$work/other" ]
nosuch=1
[ MountPoint "$mnt" ]
fsname=configured
CONF
mount_with() { "$NFSRDMA_BIN/nfsrdma" -o "config=$work/config,proto=$NFSRDMA_PROTO${1:+,$1}" 127.0.0.1:/ "$mnt"; }
mount_with ""
same configured "$(findmnt -no SOURCE "$mnt")" "the source that the configuration names"
grep -q '^ro' <<<"$(findmnt -no OPTIONS "$mnt")" || fail "not read only"
fusermount3 -u "$mnt"
mount_with rw,fsname=said
same said "$(findmnt -no SOURCE "$mnt")" "the source that the command line names"
grep -q '^rw' <<<"$(findmnt -no OPTIONS "$mnt")" || fail "not writable"
fusermount3 -u "$mnt"

mkdir "$work/other"
expect 1 "$work/config: unknown option nosuch" "$NFSRDMA_BIN/nfsrdma" -o "config=$work/config" 127.0.0.1:/ "$work/other"
expect 1 "$work/missing cannot be read" "$NFSRDMA_BIN/nfsrdma" -o "config=$work/missing" 127.0.0.1:/ "$mnt"
printf '# comment\nrsize=1\n' >broken
expect 1 "$work/broken line 2: no section has begun" "$NFSRDMA_BIN/nfsrdma" -o "config=$work/broken" 127.0.0.1:/ "$mnt"
# Without it the global section's port is not there.
expect 32 "connection refused" "$NFSRDMA_BIN/nfsrdma" -o config=none,port=1 127.0.0.1:/ "$mnt"
