#!/usr/bin/env python3
"""Sends one line to a responder's control socket and prints the answer: control.py PATH LINE...

Imported, it does so without another process: one that is started closes copies of its parent's
descriptors, and each close makes the kernel send FLUSH for its file."""
import socket
import sys


def send(path, line):
    """The answer; its last line begins with "ok" or "error:"."""
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(path)
        control.sendall(line.encode() + b"\n")
        answer = ""
        while not answer.endswith("\n") or not (
            answer.splitlines()[-1].startswith(("ok", "error:"))
        ):
            bytes = control.recv(65536)
            if not bytes:
                sys.exit("the responder closed the control socket")
            answer += bytes.decode()
    return answer


def counter(path, name):
    """A counter of the responder, as of now; one that it does not have is 0."""
    for line in send(path, "stats").splitlines():
        if line.startswith(name + " "):
            return int(line.split()[1])
    return 0


if __name__ == "__main__":
    answer = send(sys.argv[1], " ".join(sys.argv[2:]))
    print(answer, end="")
    sys.exit(0 if answer.splitlines()[-1].startswith("ok") else 1)
