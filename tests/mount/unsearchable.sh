#!/usr/bin/env bash
# A directory that may be read and not searched shows its names, though the server tells nothing else of them: the C library
# passes over entries with the inode number 0.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
mkdir "$export/d" "$export/d/sub"
touch "$export/d/file"
chmod 444 "$export/d"
same "file sub" "$(ls -U "$mnt/d" | sort | xargs)" "names"
python3 - "$mnt" <<'PY'
import ctypes, sys
libc = ctypes.CDLL(None)
class Dirent(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("reclen", ctypes.c_uint16), ("type", ctypes.c_uint8),
                ("name", ctypes.c_char * 256)]
libc.opendir.restype = ctypes.c_void_p
libc.readdir.restype = ctypes.POINTER(Dirent)
for path, count in (sys.argv[1], 3), (sys.argv[1] + "/d", 4):
    d = ctypes.c_void_p(libc.opendir(path.encode()))
    entries = []
    while e := libc.readdir(d):
        entries.append((e.contents.name, e.contents.ino))
    assert len(entries) == count and all(ino for _, ino in entries), entries
PY
if [ "$(id -u)" -ne 0 ]; then refused "Permission denied" stat "$mnt/d/file"; fi
chmod 755 "$export/d"
