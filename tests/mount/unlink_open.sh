#!/usr/bin/env bash
# A file that is removed while it is open stays readable and writable until the last close.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

python3 - "$mnt" <<'PY'
import errno, os, sys
d = sys.argv[1]
path = d + "/file"
with open(path, "wb") as f:
    f.write(b"x" * 100000)
first = os.open(path, os.O_RDWR)
second = os.open(path, os.O_RDONLY)
os.unlink(path)
assert not os.path.exists(path)
assert os.fstat(first).st_nlink == 0, os.fstat(first)
assert os.pread(second, 5, 99995) == b"xxxxx"
os.pwrite(first, b"after the unlink", 100000)
os.fsync(first)
assert os.pread(second, 100, 100000) == b"after the unlink"
os.ftruncate(first, 10)
assert os.fstat(second).st_size == 10
# The name is free for another file.
with open(path, "wb") as f:
    f.write(b"another")
os.close(first)
assert os.pread(second, 100, 0) == b"x" * 10
os.close(second)
assert open(path, "rb").read() == b"another"

# With another name left, nothing has to be kept.
os.link(path, d + "/name2")
fd = os.open(path, os.O_RDONLY)
os.unlink(path)
assert os.listdir(d) == ["name2"], os.listdir(d)
assert os.read(fd, 10) == b"another"
os.close(fd)
os.unlink(d + "/name2")

# The directory of a removed file can be removed, or replaced, as soon as the file is closed.
os.mkdir(d + "/other")
for i in range(300):
    directory = d + "/directory"
    os.mkdir(directory)
    fd = os.open(directory + "/file", os.O_CREAT | os.O_RDWR)
    os.unlink(directory + "/file")
    os.close(fd)
    if i % 2:
        os.rmdir(directory)
    else:
        os.rename(d + "/other", directory)
        os.rename(directory, d + "/other")
os.rmdir(d + "/other")
# One that has other names in it stays, whatever is being closed.
os.mkdir(directory)
fd = os.open(directory + "/file", os.O_CREAT | os.O_RDWR)
open(directory + "/stays", "w").close()
os.unlink(directory + "/file")
os.close(fd)
try:
    os.rmdir(directory)
    raise AssertionError("removed with a file in it")
except OSError as error:
    assert error.errno == errno.ENOTEMPTY, error
os.unlink(directory + "/stays")
os.rmdir(directory)

# Many at once.
fds = []
for i in range(50):
    fd = os.open(f"{d}/t{i}", os.O_CREAT | os.O_EXCL | os.O_RDWR)
    os.unlink(f"{d}/t{i}")
    os.write(fd, b"%d" % i)
    fds.append(fd)
for i, fd in enumerate(fds):
    assert os.pread(fd, 10, 0) == b"%d" % i
    os.close(fd)
PY
wait_for "the silly names to go" sh -c "! ls -A '$export' | grep -q ."
