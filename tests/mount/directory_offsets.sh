#!/usr/bin/env bash
# The offsets of readdir(3) and telldir(3) fit 31 bits, whatever cookies the server has (those of ext4 have 63): 32-bit programs get
# EOVERFLOW for larger ones. seekdir(3) leads to the right entry, and costs no long answer.
. "$(dirname "$0")/lib.sh"
files=3000 many=9000
mkdir "$export/listed" "$export/long"
(cd "$export/listed" && seq -f 'file-%g' $files | xargs touch)
(cd "$export/long" && seq -f 'file-%g' $many | xargs touch)
start_responder
mount_export actimeo=600

cat >"$work/offsets.py" <<'PY'
import ctypes, os, random, sys
libc = ctypes.CDLL(None, use_errno=True)
class Dirent(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("reclen", ctypes.c_uint16), ("type", ctypes.c_uint8),
                ("name", ctypes.c_char * 256)]
libc.opendir.restype = ctypes.c_void_p
libc.readdir.restype = ctypes.POINTER(Dirent)
libc.telldir.restype = ctypes.c_long
for call in libc.readdir, libc.telldir, libc.rewinddir, libc.closedir: call.argtypes = [ctypes.c_void_p]
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]

path, seeks = sys.argv[1], int(sys.argv[2])
directory = libc.opendir(path.encode())
def read():
    """The next name, and where it stands."""
    place = libc.telldir(directory)
    entry = libc.readdir(directory)
    if not entry: return None
    assert 0 < entry.contents.off < 2**31 and place < 2**31, (entry.contents.off, place)
    return entry.contents.name, place
def read_all():
    entries = []
    while entry := read(): entries.append(entry)
    assert sorted(name for name, _ in entries) == sorted([b".", b".."] + [os.fsencode(n) for n in os.listdir(path)])
    return entries
entries = read_all()
print("listed", flush=True)
sys.stdin.readline()
random.seed(1)
for name, place in random.sample(entries, seeks):
    libc.seekdir(directory, place)
    found = read()
    assert found and found[0] == name, (name, place, found)
# A place stays what it is when others come and go, and after a second listing.
removed, left = entries[10], entries[-10]
os.unlink(path.encode() + b"/" + removed[0])
open(path + "/new", "w").close()
libc.rewinddir(directory)
read_all()
libc.seekdir(directory, left[1])
assert read()[0] == left[0]
libc.closedir(directory)
PY
# look DIRECTORY SEEKS: what they cost, in READDIRs and in the bytes of their answers.
look() {
  coproc lister { python3 "$work/offsets.py" "$mnt/$1" "$2"; }
  local pid=$lister_PID to=${lister[1]} word readdirs received
  read -r word <&"${lister[0]}" || fail "$1 is not listed"
  readdirs=$(served READDIR)
  received=$(counter nfs_READDIR_bytes_received)
  echo go >&"$to"
  wait "$pid" || fail "the offsets of $1 are wrong"
  readdirs=$(($(served READDIR) - readdirs))
  received=$(($(counter nfs_READDIR_bytes_received) - received))
  echo "$1: $2 times seekdir(3) and two listings: $readdirs READDIRs with $received bytes"
  cost=$readdirs bytes=$received
}
# All pages of a short directory are there still.
look listed 200
[ "$cost" -le 15 ] || fail "$cost READDIRs for 200 times seekdir(3) and two listings of $files names"
# Of a long one a few entries are asked for: 220 KB each before.
look long 100
[ "$bytes" -lt $((100 * 100000)) ] || fail "$bytes bytes for 100 times seekdir(3)"
