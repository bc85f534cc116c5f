#!/usr/bin/env python3
"""faults.py SOCKET END: what goes wrong meanwhile, by the responder's control socket, in turn, again and again, until the
monotonic clock shows END; says how often at last. A process of its own: load.py stands still while a program that it
starts waits for the mount (vfork), and a server that is stopped then would never be told to go on."""
import collections
import sys
import time

import control

PAUSE_SECONDS = 3
STOPPED_SECONDS = 2


class Faults:
    def __init__(self, path):
        self.path = path
        self.done = collections.Counter()

    def text(self):
        return ", ".join(f"{name} {count} times" for name, count in sorted(self.done.items())) or "none"

    def tell(self, line):
        answer = control.send(self.path, line)
        if not answer.splitlines()[-1].startswith("ok"):
            raise RuntimeError(f"{line}: {answer}")
        self.done[line.split(":")[0]] += 1

    def stop_for_a_while(self):
        self.tell("stop")
        time.sleep(STOPPED_SECONDS)
        self.tell("continue")

    def run(self, end):
        turns = [lambda: self.tell("disconnect"),
                 lambda: self.tell("recall"),
                 lambda: self.tell("fault disconnect=after:op=WRITE:times=2"),
                 lambda: self.tell("fault nfsstat=NFS4ERR_DELAY:op=OPEN:times=5"),
                 self.stop_for_a_while,
                 lambda: self.tell("fault delay-reply=100:op=READ:times=20"),
                 lambda: self.tell("fault disconnect=before:op=COMMIT:times=2"),
                 lambda: self.tell("reboot 3")]
        number = 0
        while time.monotonic() + PAUSE_SECONDS + STOPPED_SECONDS < end:
            time.sleep(PAUSE_SECONDS)
            turns[number % len(turns)]()
            number += 1
        self.tell("clear")


if __name__ == "__main__":
    injector = Faults(sys.argv[1])
    injector.run(float(sys.argv[2]))
    print(injector.text())
