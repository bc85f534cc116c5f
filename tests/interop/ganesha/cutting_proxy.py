#!/usr/bin/env python3
"""Forwards TCP connections to a port of loopback and cuts them all on SIGUSR1.

    cutting_proxy.py PORT

Prints the port it listens on. Ends on SIGTERM, and then prints how many connections it has cut.
"""
import selectors
import signal
import socket
import struct
import sys

BYTES = 65536
# Closed with a reset, as by a middlebox that has forgotten the connection.
RESET = struct.pack("ii", 1, 0)

selector = selectors.DefaultSelector()
peers = {}
cut = 0


def accept(listener):
    client, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    for one, other in ((client, server), (server, client)):
        peers[one] = other
        selector.register(one, selectors.EVENT_READ, forward)


def forward(one):
    try:
        bytes = one.recv(BYTES)
        if bytes:
            peers[one].sendall(bytes)
            return
    except OSError:
        pass
    close(one)


def close(one):
    for each in (one, peers.pop(one)):
        peers.pop(each, None)
        selector.unregister(each)
        each.close()


def cut_all(*_):
    global cut
    while peers:
        one = next(iter(peers))
        for each in (one, peers[one]):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        close(one)
        cut += 1


def finish(*_):
    print(cut, flush=True)
    sys.exit(0)


# Signals come through a socket, so that none meets a connection half taken apart.
woken, wake = socket.socketpair()
for end in (woken, wake):
    end.setblocking(False)
signal.set_wakeup_fd(wake.fileno())
for number in (signal.SIGUSR1, signal.SIGTERM):
    signal.signal(number, lambda *_: None)


def on_signal(_):
    for number in woken.recv(BYTES):
        {signal.SIGUSR1: cut_all, signal.SIGTERM: finish}[number]()


listener = socket.create_server(("127.0.0.1", 0))
selector.register(listener, selectors.EVENT_READ, accept)
selector.register(woken, selectors.EVENT_READ, on_signal)
print(listener.getsockname()[1], flush=True)
while True:
    for key, _ in selector.select():
        if key.fileobj in peers or key.fileobj in (listener, woken):
            key.data(key.fileobj)
