#!/usr/bin/env bash
# A command line that is wrong: exit code 1 and one line that names what is wrong.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
nfsrdma=$NFSRDMA_BIN/nfsrdma

expect 1 "a source and a mount point are needed" "$nfsrdma"
expect 1 "a source and a mount point are needed" "$nfsrdma" server:/
expect 1 "the mount point is empty" "$nfsrdma" server:/ ""
expect 1 "unknown option frobnicate" "$nfsrdma" -o frobnicate server:/ "$mnt"
expect 1 "unrecognised option '-q'" "$nfsrdma" -q server:/ "$mnt"
expect 1 "not a URL" "$nfsrdma" nfs://server/export "$mnt"
expect 1 "must be absolute" "$nfsrdma" server:export "$mnt"
expect 1 "option sec=krb5p: Kerberos" "$nfsrdma" -o sec=krb5p server:/ "$mnt"
expect 1 "option rpcrdma=3: must be 1, 2 or auto" "$nfsrdma" -o rpcrdma=3 server:/ "$mnt"
expect 1 "capture= records provider=iwarp and proto=tcp" \
  "$nfsrdma" -o provider=verbs,capture=/dev/null server:/ "$mnt"
# With a device: its wire is not seen from here, its RPCs and RoCEv2 packets made of them are.
if [ ! -e /sys/class/infiniband ]; then
  for view in "" ",capture=$work/x.pcapng,capture_view=rpc" ",capture=$work/x.pcapng,capture_view=roce"; do
    expect 32 "RDMA device: No such device (this machine has none" "$nfsrdma" -o "provider=verbs$view" 127.0.0.1:/ "$mnt"
  done
fi
expect 1 "option rsize=big: must be a number from 0 to" "$nfsrdma" -o rsize=big server:/ "$mnt"
expect 1 "option port=65536: must be a number from 0 to 65535" "$nfsrdma" -o port=65536 server:/ "$mnt"
expect 1 "option ro takes no value" "$nfsrdma" -o ro=1 server:/ "$mnt"
expect 1 "option port needs a value: port=N" "$nfsrdma" -o port server:/ "$mnt"
expect 1 "unknown option prot; did you mean proto?" "$nfsrdma" -o prot=tcp server:/ "$mnt"
expect 1 "option bg: use the mount option x-systemd.automount" "$nfsrdma" -o bg server:/ "$mnt"

# Names of files in a working directory that was removed.
mkdir "$work/removed"
(
  cd "$work/removed" && rmdir "$work/removed"
  expect 1 "mount point mnt: No such file or directory" "$nfsrdma" server:/ mnt
  for option in capture stats log record; do
    expect 32 "$option: No such file or directory (file)" "$nfsrdma" -o "$option=file" server:/ "$mnt"
  done
)

"$nfsrdma" --help >"$work/help"
grep -q 'rsize=BYTES' "$work/help" || fail "--help does not list rsize"
"$nfsrdma" --version >"$work/version"
grep -qE '^nfsrdma [0-9.]+( \([0-9a-f]+(-dirty)?\))?$' "$work/version" || fail "--version: $(cat "$work/version")"
grep -q 'libfuse 3' "$work/version" || fail "--version does not name libfuse"
