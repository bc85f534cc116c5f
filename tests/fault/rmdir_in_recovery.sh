#!/usr/bin/env bash
# The server has restarted, and thousands of open files are reclaimed: close, unlink and rmdir meanwhile, and
# afterwards, leave nothing behind. The kernel does not wait for RELEASE, which waits for the recovery.
. "$(dirname "$0")/lib.sh"
start_responder --lease 30
mount_export
files=${NFSRDMA_FAULT_FILES:-3000}

python3 - "$mnt" "$files" "$work/control" <<'P' || fail "removing directories"
import control, os, sys
mount, files, socket = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def directory(i):
    return f"{mount}/d{i}"
def opened(many):
    there = []
    for i in many:
        os.mkdir(directory(i))
        there.append(os.open(f"{directory(i)}/f", os.O_CREAT | os.O_RDWR))
    return there
def remove(i):
    os.unlink(f"{directory(i)}/f")
    try:
        os.rmdir(directory(i))
    except OSError as error:
        failures.append(f"{error.strerror}: {os.listdir(directory(i))}")
failures = []
def close_and_remove(many, there):
    """Those closed last are removed first: they are the last in the kernel's queue of RELEASEs."""
    for file in there:
        os.close(file)
    for i in reversed(many):
        remove(i)
there = opened(range(files))
control.send(socket, "reboot 1")
close_and_remove(range(files), there)
during = len(failures)
more = range(files, files + 300)
close_and_remove(more, opened(more))
if failures:
    sys.exit(f"rmdir failed {during} times during the recovery, {len(failures) - during} times after it: {failures[0]}")
P
[ -z "$(ls -A "$export")" ] || fail "left over: $(find "$export" | head -n 3)"
expect_alive
