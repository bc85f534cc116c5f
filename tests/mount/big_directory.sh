#!/usr/bin/env bash
# A directory with 10,000 entries (NFSRDMA_NAMES for another number): each is listed once, also
# after rewinddir, from seekdir, and while others are removed.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
entries=${NFSRDMA_NAMES:-10000}

mkdir "$export/d"
(cd "$export/d" && seq -f 'entry-with-a-longer-name-%06.0f' "$entries" | xargs touch)
same "$entries" "$(ls -U "$mnt/d" | sort -u | wc -l)" "names"
same "$entries" "$(ls -U "$mnt/d" | wc -l)" "names, each once"
same "$((entries + 2))" "$(ls -alU "$mnt/d" | tail -n +2 | wc -l)" "names with attributes"
same "$(find "$export/d" -printf '%f %i\n' | sort | sha256sum)" \
  "$(find "$mnt/d" -printf '%f %i\n' | sort | sha256sum)" "names and inode numbers"

# A program that first reads all names and then asks for the attributes of each (find, ls -l) costs no
# request for each: they came with the names.
before=$(counter session_requests)
same "$entries" "$(find "$mnt/d" -type f -size 0 | wc -l)" "empty files"
after=$(counter session_requests)
[ $((after - before)) -le $((entries / 100 + 20)) ] || fail "$((after - before)) requests for $entries files"

python3 - "$mnt/d" "$entries" <<'PY'
import ctypes, sys
libc = ctypes.CDLL(None)
libc.opendir.restype = ctypes.c_void_p
class Dirent(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("reclen", ctypes.c_uint16),
                ("type", ctypes.c_uint8), ("name", ctypes.c_char * 256)]
libc.readdir.restype = ctypes.POINTER(Dirent)
libc.telldir.restype = ctypes.c_long
d = ctypes.c_void_p(libc.opendir(sys.argv[1].encode()))
def rest():
    names = []
    while e := libc.readdir(d):
        names.append(e.contents.name)
    return names
first = rest()
assert first[:2] == [b".", b".."] and len(first) == int(sys.argv[2]) + 2
libc.rewinddir(d)
for _ in range(len(first) // 2):
    libc.readdir(d)
place = ctypes.c_long(libc.telldir(d))
tail = rest()
assert tail == first[len(first) // 2:]
libc.seekdir(d, place)
assert rest() == tail
libc.rewinddir(d)
assert rest() == first
libc.closedir(d)
PY

# Removing while reading.
find "$mnt/d" -name '*0' -delete
same "$((entries - entries / 10))" "$(ls -U "$mnt/d" | wc -l)" "left after removing a tenth"
rm -rf "$mnt/d"
[ ! -e "$export/d" ] || fail "rm -rf left something"
same "" "$(ls -A "$mnt")" "nothing left"
