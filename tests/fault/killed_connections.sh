#!/usr/bin/env bash
# The connection is broken every second while a tree and a large file go in and out.
. "$(dirname "$0")/lib.sh"
size=${NFSRDMA_FAULT_FILE:-1073741824}
tree=${NFSRDMA_FAULT_TREE:-/usr/include}

start_responder
mount_export
head -c "$size" /dev/urandom >"$work/large"
control fault disconnect=every:seconds=1 >/dev/null

cp "$work/large" "$mnt/large" || fail "copy in of the large file"
cp -rL "$tree" "$mnt/tree" || fail "copy in of the tree"
cmp "$work/large" "$mnt/large" || fail "the large file differs"
mkdir "$work/back"
cp -r "$mnt/tree" "$work/back/tree" || fail "copy out of the tree"
diff -r "$tree" "$work/back/tree" || fail "the tree differs"
diff -r "$work/back/tree" "$export/tree" || fail "the exported tree differs"

broken=$(server_counter disconnections)
echo "connections broken: $broken"
[ "$broken" -ge 2 ] || fail "the connection was not broken during the copy"
expect_alive
