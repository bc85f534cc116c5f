#!/usr/bin/env bash
# A write fails after its answer, and another process closes the writer's descriptor before the writer asks: a child, a
# program that a child executes, a child that is killed. The error is told to the writer all the same.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

# Each of them closes what it has inherited, while WRITE fails. The reader keeps the file open, and so what is known of it.
cat >"$work/writer.py" <<'P'
import control, errno, os, signal, sys
name, how, socket = sys.argv[1:]
def outcome(call, *arguments):
    try:
        call(*arguments)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
def check(what, found, wanted):
    if found != wanted: sys.exit(f"{how}: {what}: {found} instead of {wanted}")
def child():
    if how == "exec": os.execv("/bin/true", ["true"])
    if how == "killed": os.kill(os.getpid(), signal.SIGKILL)
    if how == "close": outcome(os.close, fd)
    os._exit(0)
reader = os.open(name, os.O_CREAT | os.O_RDONLY)
fd = os.open(name, os.O_WRONLY)
copy = os.dup(fd)
control.send(socket, "fault nfsstat=NFS4ERR_IO:op=WRITE")
os.write(fd, b"text")
pid = os.fork()
if pid == 0: child()
os.waitpid(pid, 0)
check("close of one of two descriptors", outcome(os.close, copy), "EIO")
check("fsync", outcome(os.fsync, fd), "EIO")
check("fsync again", outcome(os.fsync, fd), "ok")
check("close", outcome(os.close, fd), "ok")
# What was told at close alone is no error of the next program's close.
control.send(socket, "clear")
fd = os.open(name, os.O_WRONLY)
os.pwrite(fd, b"more", 0)
check("fsync with room", outcome(os.fsync, fd), "ok")
control.send(socket, "fault nfsstat=NFS4ERR_IO:op=WRITE")
os.pwrite(fd, b"lost", 0)
check("close after a failure", outcome(os.close, fd), "EIO")
control.send(socket, "clear")
fd = os.open(name, os.O_WRONLY)
os.pwrite(fd, b"last", 0)
check("close of a later open", outcome(os.close, fd), "ok")
os.close(reader)
P
for how in exit close exec killed; do
  python3 "$work/writer.py" "$mnt/$how" $how "$work/control" || fail "$how"
  same last "$(cat "$export/$how")" "$how: the data"
done
expect_alive
