"""Several processes open, lock, write, unlock and close one file, over and over, and nothing fails: a
close and the next open of one owner must not take each other's state away.
Usage: open_lock_close.py FILE [ROUNDS]"""
import fcntl
import os
import sys

PATH, ROUNDS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
PROCESSES = 3


def work(number):
    for _ in range(ROUNDS):
        fd = os.open(PATH, os.O_RDWR)
        fcntl.lockf(fd, fcntl.LOCK_EX, 100, 0)
        os.pwrite(fd, b"%d" % number, 10 * number)
        fcntl.lockf(fd, fcntl.LOCK_UN, 100, 0)
        os.close(fd)


os.close(os.open(PATH, os.O_RDWR | os.O_CREAT, 0o666))
children = {}
for number in range(PROCESSES):
    child = os.fork()
    if child == 0:
        try:
            work(number)
        except OSError as error:
            print(f"process {number}: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    children[child] = number
failed = 0
for child in children:
    failed += os.waitpid(child, 0)[1] != 0
sys.exit(f"{failed} of {PROCESSES} processes failed" if failed else 0)
