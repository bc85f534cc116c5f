#!/usr/bin/env bash
# A captured mount, copy and unmount: tshark takes it apart from MPA up to NFS with no malformed mark,
# and finds in it what was done.
. "$(dirname "$0")/lib.sh"
. "$here/dissection_lib.sh"
# The data of a Write chunk is put into its reply in the second pass.
tshark=(tshark -2)
life_of_a_mount=('iwarp_mpa.req' 'iwarp_mpa.rep' 'rpcordma' 'nfs.opcode == 42' 'nfs.opcode == 43'
  'nfs.opcode == 44')  # EXCHANGE_ID, CREATE_SESSION, DESTROY_SESSION
rdma_write='iwarp_rdma.opcode == 0'
rdma_read_request='iwarp_rdma.opcode == 1'
rdma_read_response='iwarp_rdma.opcode == 2'

start_responder
mkdir "$work/source" "$work/back"
cp -r /usr/include/linux/netfilter "$work/source/tree"
# tshark 4.0 does not pad a READ that ends early with bytes that fill no XDR unit, and takes its own
# reassembled reply for malformed: files and the link here have whole units.
find "$work/source/tree" -type f -exec truncate -s %4 {} +
head -c 5000000 /dev/urandom >"$work/source/bulk"
mount_export "capture=$work/in.pcapng"
cp -r "$work/source/." "$mnt"
unmount_export
mount_export "capture=$work/out.pcapng"
cp -r "$mnt/." "$work/back"
ln -s bulk "$mnt/link"
same bulk "$(readlink "$mnt/link")" "symbolic link"
mv "$mnt/bulk" "$mnt/moved"
rm -r "$mnt/tree"
unmount_export
diff -r "$work/source" "$work/back"

dissects "$work/in.pcapng" "${life_of_a_mount[@]}" "$rdma_read_request" "$rdma_read_response" \
  'nfs.opcode == 38' 'nfs.opcode == 5'
dissects "$work/out.pcapng" "${life_of_a_mount[@]}" "$rdma_write" 'nfs.opcode == 25' 'nfs.opcode == 26'

# The page's own example, as it stands there, marks nothing either.
read -ra example < <(sed -n 's/\\//g; s,^\(tshark .*\) /tmp/nfs.pcapng$,\1,p' "$here/../../man/nfsrdma.8") || fail "nfsrdma.8 has no example of tshark"
"${example[@]}" "$work/out.pcapng" >"$work/shown" 2>"$work/tshark.err" || fail "${example[*]}: $(cat "$work/tshark.err")"
grep -q 'NFS.*READ' "$work/shown" || fail "'${example[*]}' shows no READ"
! grep -i malformed "$work/shown" || fail "'${example[*]}' shows malformed packets"
