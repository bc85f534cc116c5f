#!/usr/bin/env bash
# The name (.nfs...) of a file that was removed while it is open: to remove it is EBUSY, and leaves no other; a program may give the
# file a name of its own again, and then it is a file like others.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
python3 - "$mnt" "$export" <<'PY'
import errno, os, sys
here, there = sys.argv[1:]

def open_and_remove(path):
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(descriptor, b"data")
    os.unlink(path)
    return descriptor
def refused(call, *paths):
    try: call(*paths)
    except OSError as e: return errno.errorcode[e.errno]
    return "done"

# Emptying a directory until it is empty ends.
os.mkdir(here + "/d")
held = open_and_remove(here + "/d/f")
[name] = os.listdir(here + "/d")
assert name.startswith(".nfs"), name
assert refused(os.unlink, f"{here}/d/{name}") == "EBUSY"
assert refused(os.unlink, f"{here}/d/{name}") == "EBUSY"
assert os.listdir(here + "/d") == [name] == os.listdir(there + "/d")
assert os.fstat(held).st_nlink == 0 and os.pread(held, 9, 0) == b"data"
assert refused(os.rmdir, here + "/d") == "ENOTEMPTY"
os.close(held)
os.rmdir(here + "/d")  # which waits for the close

# Another name for it.
held = open_and_remove(here + "/f")
[name] = [n for n in os.listdir(here) if n.startswith(".nfs")]
os.rename(f"{here}/{name}", here + "/rescued")
assert os.fstat(held).st_nlink == os.stat(here + "/rescued").st_nlink == os.stat(there + "/rescued").st_nlink == 1
os.link(here + "/rescued", here + "/second")
assert os.stat(here + "/second").st_nlink == 2
os.close(held)
os.unlink(here + "/second")
# Names that only look like one are removed.
open(here + "/.nfs0", "w").close()
held = os.open(here + "/rescued", os.O_RDONLY)
os.unlink(here + "/.nfs0")
os.unlink(here + "/rescued")
[name] = [n for n in os.listdir(here) if n.startswith(".nfs")]
assert refused(os.unlink, f"{here}/{name}") == "EBUSY"
os.rename(f"{here}/{name}", here + "/again")
os.close(held)
PY
unmount_export
same data "$(cat "$export/again")" "a file that a program gave a name to, after its last close"
same "again" "$(ls -A "$export")" "names that are left"
