#!/usr/bin/env bash
# A server that reboots has lost what was written and not committed: it is all there again when fsync has succeeded,
# whatever lay there before, whether it was written in large pieces, in small ones, or past the page cache.
. "$(dirname "$0")/lib.sh"
start_responder
for file in large small direct; do head -c 6000000 /dev/urandom >"$export/$file"; done
mount_export
control fault unstable=lost >/dev/null

# In one process: a close(2), also of a child's copy, would commit the file.
python3 - "$work/control" "$mnt" "$export" <<'PY' || fail "see above"
import mmap, os, sys, time
import control

socket, mount, export = sys.argv[1:]
LOST = "nfs.unstable_writes_lost"


def reboots(name, piece, flags=0):
    """Writes pieces over what is there; the server loses those that it has, and then they are made durable."""
    data = os.urandom(6000000 // piece * piece)
    fd = os.open(f"{mount}/{name}", os.O_RDWR | flags)
    before, written = control.counter(socket, LOST), control.counter(socket, "op_WRITE")
    buffer = mmap.mmap(-1, piece)
    for at in range(0, len(data), piece):
        buffer[:] = data[at : at + piece]
        done = 0
        while done < piece:
            done += os.pwrite(fd, memoryview(buffer)[done:], at + done)
    patience = 600
    while control.counter(socket, "op_WRITE") == written:
        patience -= 1
        if patience == 0:
            sys.exit(f"{name}: nothing was written")
        time.sleep(0.05)
    control.send(socket, "reboot")
    lost = control.counter(socket, LOST) - before
    if lost == 0:
        sys.exit(f"{name}: the server had nothing to lose")
    os.fsync(fd)
    with open(f"{export}/{name}", "rb") as file:
        if file.read(len(data)) != data:
            sys.exit(f"{name}: not what was written")
    os.close(fd)
    print(f"{name}: {lost} WRITEs were lost, and nothing of them")


reboots("large", 1 << 20)
reboots("small", 1000)
reboots("direct", 1 << 16, os.O_DIRECT)
PY

# Again and again while it is written.
head -c 6000003 /dev/urandom >"$work/new"
dd if="$work/new" of="$mnt/often" bs=128k conv=fsync status=none &
writer=$!
for _ in 1 2 3 4 5; do control reboot >/dev/null; done
wait $writer || fail "writing through reboots"
cmp "$work/new" "$export/often" || fail "through reboots: not what was written"
expect_alive
