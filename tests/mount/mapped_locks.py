"""Stores to a mapping that come before a lock, a time or a name: mapped_locks.py HERE THERE SERVED CONTROL

HERE and THERE are two mounts of the folder SERVED, CONTROL is the socket of the server. Prints what is wrong.
"""
import control, errno, fcntl, mmap, os, struct, sys

HERE, THERE, SERVED, CONTROL = sys.argv[1:]
PAGE = 4096
wrong = 0


def check(what, found, wanted):
    global wrong
    if found == wanted: return
    wrong += 1
    print(f"{what}: {found!r} instead of {wanted!r}", flush=True)


def outcome(call, *arguments):
    try:
        call(*arguments)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]


def of_description(fd, kind):
    kinds = {fcntl.LOCK_EX: fcntl.F_WRLCK, fcntl.LOCK_SH: fcntl.F_RDLCK, fcntl.LOCK_UN: fcntl.F_UNLCK}
    F_OFD_SETLKW = 38
    fcntl.fcntl(fd, F_OFD_SETLKW, struct.pack("hhqqi4x", kinds[kind], os.SEEK_SET, 0, 0, 0))


LOCKS = {"fcntl": fcntl.lockf, "ofd": of_description, "flock": fcntl.flock}


def served(name, size=-1):
    with open(SERVED + name, "rb") as file: return file.read(size)


class Mapped:
    """A file that is open and mapped through one of the mounts."""

    def __init__(self, path, lock=fcntl.lockf):
        self.fd, self.lock = os.open(path, os.O_RDWR), lock
        self.map = mmap.mmap(self.fd, PAGE)

    def __enter__(self):
        self.lock(self.fd, fcntl.LOCK_EX)
        return self.map

    def __exit__(self, *_):
        self.lock(self.fd, fcntl.LOCK_UN)

    def close(self):
        self.map.close()
        os.close(self.fd)


def make(name):
    with open(HERE + name, "wb") as file: file.write(b"0" * PAGE)


def locks(kind):
    name, lock = "/" + kind, LOCKS[kind]
    make(name)
    here, there = Mapped(HERE + name, lock), Mapped(THERE + name, lock)
    with here as page: page[0:4] = b"AAAA"
    check(f"{kind}: the server, when the lock is free", served(name, 4), b"AAAA")
    with there as page:
        check(f"{kind}: the next holder", os.pread(there.fd, 4, 0), b"AAAA")
        check(f"{kind}: the next holder's mapping", page[0:4], b"AAAA")
        page[PAGE // 2:PAGE // 2 + 4] = b"BBBB"
    with here as page:
        check(f"{kind}: the first one, what the next one stored", page[PAGE // 2:PAGE // 2 + 4], b"BBBB")
        page[4:8] = b"aaaa"
        lock(here.fd, fcntl.LOCK_SH)
        check(f"{kind}: the server, when the lock is shared", served(name, 8), b"AAAAaaaa")
    page = served(name)
    check(f"{kind}: both halves", (page[0:8], page[PAGE // 2:PAGE // 2 + 4]), (b"AAAAaaaa", b"BBBB"))
    with here as page: page[0:8] = b"%08d" % 0
    for turn in range(40):
        with (here, there)[turn % 2] as page: page[0:8] = b"%08d" % (int(page[0:8]) + 1)
    check(f"{kind}: increments in turn", served(name, 8), b"%08d" % 40)
    # A lock is asked for after stores, and pages that others have outdated are dropped next.
    here.map[8:12] = b"CCCC"
    with here: check(f"{kind}: the server, when a lock is granted", served(name, 12)[8:], b"CCCC")
    here.close()
    there.close()


def before_a_recall(kind):
    """With a server that delegates for writing, the locks of the first one are its client's own until another opens the file."""
    name, lock = "/recalled-" + kind, LOCKS[kind]
    make(name)
    here = Mapped(HERE + name, lock)
    with here as page: page[0:4] = b"AAAA"
    with here as page: page[4:8] = b"BBBB"
    there = Mapped(THERE + name, lock)
    with there as page: check(f"{kind}: stores from before a recall", page[0:8], b"AAAABBBB")
    here.close()
    there.close()


def attributes():
    name = "/times"
    make(name)
    here = Mapped(HERE + name)
    for way in "path", "descriptor":
        here.map[0:4] = b"AAAA"
        when = 1_000_000_000_123_456_789
        os.utime(HERE + name if way == "path" else here.fd, ns=(when, when))
        os.fsync(here.fd)
        check(f"utimensat by {way}: the time", os.stat(SERVED + name).st_mtime_ns, when)
        check(f"utimensat by {way}: the server", served(name, 4), b"AAAA")
    here.map[0:4] = b"DDDD"
    os.fchmod(here.fd, 0o6711)
    check("chmod: the server", served(name, 4), b"DDDD")
    os.fsync(here.fd)
    check("chmod: the mode", os.stat(SERVED + name).st_mode & 0o7777, 0o6711)
    here.map[0:4] = b"EEEE"
    here.close()
    check("close: the server", served(name, 4), b"EEEE")


def names():
    os.mkdir(HERE + "/folder")
    for at in "", "/folder":
        for call in os.rename, os.link:
            what, name = f"{call.__name__} in '{at or '/'}'", f"{at}/{call.__name__}"
            make(name)
            here = Mapped(HERE + name)
            here.map[0:4] = b"AAAA"
            call(HERE + name, HERE + name + ".new")
            check(f"{what}: the new name", served(name + ".new", 4), b"AAAA")
            with open(THERE + name + ".new", "rb") as file: check(f"{what}: another client", file.read(4), b"AAAA")
            here.map[4:8] = b"BBBB"
            os.rename(HERE + name + ".new", HERE + at + "/once more")
            check(f"{what}: renamed once more", served(at + "/once more", 8), b"AAAABBBB")
            os.write(here.fd, b"CCCC")
            os.link(HERE + at + "/once more", HERE + name + ".link")
            check(f"{what}: what was written, by a link", served(name + ".link", 8), b"CCCCBBBB")
            here.close()


def failures():
    """An error of a WRITE that an unlock has waited for is told once: to the program's fsync(2)."""
    name = "/failing"
    make(name)
    here = Mapped(HERE + name)
    for _ in 1, 2:  # after the first failure writes are sent while their caller waits
        control.send(CONTROL, "fault nfsstat=NFS4ERR_NOSPC:op=WRITE")
        with here as page: page[0:4] = b"AAAA"
        check("fsync after a failure", outcome(os.fsync, here.fd), "ENOSPC")
        check("fsync once more", outcome(os.fsync, here.fd), "ok")
        control.send(CONTROL, "clear")
    with here as page: page[0:4] = b"BBBB"
    check("fsync with room", outcome(os.fsync, here.fd), "ok")
    check("the server, with room", served(name, 4), b"BBBB")
    here.close()


for kind in LOCKS:
    locks(kind)
    before_a_recall(kind)
attributes()
names()
failures()
if wrong: sys.exit(f"{wrong} lines are wrong")
