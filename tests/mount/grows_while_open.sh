#!/usr/bin/env bash
# A file that grows by another client's writes while it is open here: once its new size is seen, so
# are the bytes, also those in a page that was cached when the file ended in it.
counts_caches=yes
. "$(dirname "$0")/lib.sh"
start_responder
printf 'one ' >"$export/f"
printf 'one ' >"$export/g"
mount_export acregmin=1,acregmax=1
mount_export "" "$work/mnt2"
other=$work/mnt2

has_size() { [ "$(stat -c %s "$1")" = "$2" ]; }

exec 5<"$mnt/f"
exec 6<"$mnt/g"
same 'one ' "$(cat <&5)" "before"
same 'one ' "$(cat <&6)" "before"
printf 'two ' >>"$other/f"
wait_for "the new size" has_size "$mnt/f" 8
same 'two ' "$(cat <&5)" "what another client has appended"
printf 'two ' >>"$export/g"
wait_for "the new size" has_size "$mnt/g" 8
same 'two ' "$(cat <&6)" "what a program of the server has appended"
exec 5<&- 6<&-

# Whatever brings the kernel the new size, by a lookup, also after another open, or by listing the
# directory: the page that the file ended in has gone before. Here it cannot go until one before it or
# another file's has, which is being read while the server puts that off, so that readers of the end
# have time for a look.
third=$work/mnt3
mount_export lookupcache=none,acregmin=60,acregmax=60 "$third"
cat >"$work/look.py" <<'PY'
import control, os, sys, threading
here, there, socket, way = sys.argv[1:]
END, MORE = 100000, b"more"

def served(operation):
    return control.counter(socket, "op_" + operation)

def begin(call, operation):
    """In a thread of its own; the server has been asked when this returns."""
    before = served(operation)
    thread = threading.Thread(target=call)
    thread.start()
    while served(operation) == before:
        pass
    return thread

def open_and_grow(name):
    fd = os.open(f"{here}/{name}", os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    assert os.pread(fd, 100, END - 4) == b"tail"
    with open(f"{there}/{name}", "ab") as f:
        f.write(MORE)
    return fd

before, fd = open_and_grow("before"), open_and_grow(way)
control.send(socket, "fault nfsstat=NFS4ERR_DELAY:op=READ")
if way == "OPEN":
    threads = [begin(lambda: os.pread(fd, 1, 0), "READ"),
               begin(lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDONLY), "OPEN")]  # no LOOKUP
else:
    threads = [begin(lambda: os.pread(before, 1, 0), "READ"),
               begin(lambda: os.stat(f"{here}/before"), "LOOKUP")]
if way == "READDIR":
    threads.append(begin(lambda: os.listdir(here), "READDIR"))
else:
    threads.append(begin(lambda: os.stat(f"{here}/{way}"), "LOOKUP"))
seen, over = set(), threading.Event()

def read_end():
    while not over.is_set():
        seen.add(os.pread(fd, len(MORE), END))

end = begin(read_end, "READ")  # that is, until the one put off has been tried again
control.send(socket, "clear")
for thread in threads:
    thread.join()
over.set()
end.join()
if seen - {b"", MORE}:
    sys.exit(f"{way}: read at the end: {seen}")
if os.stat(f"{here}/{way}").st_size != END + len(MORE) or os.pread(fd, 100, END) != MORE:
    sys.exit(f"{way}: the new end is not seen")
PY
for way in LOOKUP OPEN READDIR; do
  for name in before $way; do { head -c 99996 /dev/zero | tr '\0' x; printf tail; } >"$export/$name"; done
  python3 "$work/look.py" "$third" "$other" "$work/control" $way
done
