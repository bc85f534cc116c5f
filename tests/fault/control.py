#!/usr/bin/env python3
"""Sends one line to a responder's control socket and prints the answer: control.py PATH LINE..."""
import socket
import sys

path, line = sys.argv[1], " ".join(sys.argv[2:])
with socket.socket(socket.AF_UNIX) as control:
    control.connect(path)
    control.sendall(line.encode() + b"\n")
    answer = ""
    while not answer.endswith("\n") or not (
        answer.splitlines()[-1].startswith(("ok", "error:"))
    ):
        octets = control.recv(65536)
        if not octets:
            sys.exit("the responder closed the control socket")
        answer += octets.decode()
print(answer, end="")
sys.exit(0 if answer.splitlines()[-1].startswith("ok") else 1)
