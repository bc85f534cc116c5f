#!/usr/bin/env bash
# LMDB writes through a shared mapping (MDB_WRITEMAP) and by pwrite; its environment is whole after a writer was killed, and a copy
# that another mount makes has all of it.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import lmdb' 2>/dev/null || skip "no module lmdb (Debian package python3-lmdb)"
start_responder
second=$work/second
mount_export
mount_export "" "$second"
cat >use.py <<'PY'
import hashlib, lmdb, os, sys
what, path, writemap, count = sys.argv[1], sys.argv[2], sys.argv[3] == "mapped", int(sys.argv[4])
def value(i): return hashlib.sha256(b"%d" % i).digest() * 64
environment = lmdb.open(path, map_size=64 << 20, writemap=writemap, subdir=True)
if what == "write":
    for first in range(0, count, 20):
        with environment.begin(write=True) as transaction:
            for i in range(first, min(first + 20, count)):
                transaction.put(b"%08d" % i, value(i))
        print(min(first + 20, count), flush=True)
elif what == "killed":
    with environment.begin(write=True) as transaction:
        for i in range(count, count + 200):
            transaction.put(b"%08d" % i, value(i))
        os.kill(os.getpid(), 9)
else:
    with environment.begin() as transaction:
        found = [(key, data) for key, data in transaction.cursor()]
    assert len(found) == count, (len(found), count)
    assert all(data == value(int(key)) for key, data in found), "a value"
    if what == "copy":
        environment.copy(sys.argv[5], compact=True)
PY
use() { /usr/bin/python3 use.py "$@"; }
for how in mapped written; do
  use write "$mnt/$how" $how 300 >said.out
  status=0
  use killed "$mnt/$how" $how 300 || status=$?
  same 137 $status "the writer that kills itself"
  use check "$mnt/$how" $how 300
  use write "$mnt/$how" $how 400 >said.out
  mkdir "$work/copy_$how"
  use copy "$mnt/$how" $how 400 "$work/copy_$how"
  use check "$work/copy_$how" $how 400
  use check "$second/$how" $how 400
done
