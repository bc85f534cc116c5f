"""A new object has the times of its creation, however it was made: created_times.py DIR"""
import os
import sys
import tempfile
import time

# The clocks of client and server may differ a little; verifiers differ by years.
SLACK = 60
directory = sys.argv[1]
began = time.time()


def check(path, what):
    seen = os.lstat(path)
    for name in ("st_atime", "st_mtime", "st_ctime"):
        stamp = getattr(seen, name)
        assert began - SLACK <= stamp <= time.time() + SLACK, f"{what}: {name} is {time.ctime(stamp)}"


def opened(name, flags, mode=0o640):
    path = f"{directory}/{name}"
    descriptor = os.open(path, flags | os.O_WRONLY, mode)
    check(path, f"{name}, open")
    os.close(descriptor)
    check(path, f"{name}, closed")
    return path


opened("create", os.O_CREAT)
path = opened("exclusive", os.O_CREAT | os.O_EXCL)
assert os.stat(path).st_mode & 0o7777 == 0o640
opened("exclusive.truncated", os.O_CREAT | os.O_EXCL | os.O_TRUNC)
old = os.umask(0o027)
path = opened("masked", os.O_CREAT | os.O_EXCL, 0o666)
assert os.stat(path).st_mode & 0o7777 == 0o640
path = opened("masked.private", os.O_CREAT | os.O_EXCL, 0o600)
assert os.stat(path).st_mode & 0o7777 == 0o600
os.umask(old)
path = opened("readonly", os.O_CREAT | os.O_EXCL, 0o444)
assert os.stat(path).st_mode & 0o7777 == 0o444
descriptor, path = tempfile.mkstemp(dir=directory)
os.close(descriptor)
check(path, "mkstemp")
assert os.stat(path).st_mode & 0o7777 == 0o600
os.link(path, f"{directory}/link")
check(f"{directory}/link", "link")
os.mkdir(f"{directory}/directory", 0o750)
check(f"{directory}/directory", "mkdir")
check(tempfile.mkdtemp(dir=directory), "mkdtemp")
os.symlink("target", f"{directory}/symlink")
check(f"{directory}/symlink", "symlink")
os.mkfifo(f"{directory}/fifo")
check(f"{directory}/fifo", "mkfifo")
os.mknod(f"{directory}/node", 0o600 | 0o100000)
check(f"{directory}/node", "mknod")
# Written at once, and looked at only then.
with open(f"{directory}/written", "x") as file:
    file.write("data")
check(f"{directory}/written", "written")
