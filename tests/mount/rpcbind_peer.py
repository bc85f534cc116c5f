"""A scripted rpcbind at 127.0.0.1:111 (RFC 1833, version 4 over TCP): rpcbind_peer.py [NETID=PORT...]

Knows NFS version 4 at these ports; "silent" as an argument: takes calls and never answers."""
import socket
import struct
import sys

NFS, VERSION, GETADDR, DUMP = 100003, 4, 3, 4


def string(text):
    data = text.encode()
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def universal(port):
    return f"127.0.0.1.{port >> 8}.{port & 255}"


def entry(netid, port, program=NFS):
    return struct.pack(">III", 1, program, VERSION) + string(netid) + string(universal(port)) + string("superuser")


def results(procedure):
    if procedure == GETADDR:
        return string(universal(ports["tcp"]) if "tcp" in ports else "")
    assert procedure == DUMP
    # Others stand there, too.
    listed = entry("tcp", 111, 100000) + entry("rdma", 1, 100005)
    return listed + b"".join(entry(netid, port) for netid, port in ports.items()) + struct.pack(">I", 0)


silent = "silent" in sys.argv
ports = {n: int(p) for n, p in (a.split("=") for a in sys.argv[1:] if "=" in a)}
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 111))
listener.listen()
print("ready", flush=True)
while True:
    peer, _ = listener.accept()
    while True:
        head = peer.recv(4, socket.MSG_WAITALL)
        if len(head) < 4:
            break
        call = peer.recv(struct.unpack(">I", head)[0] & 0x7FFFFFFF, socket.MSG_WAITALL)
        xid, kind, rpc, program, version, procedure = struct.unpack_from(">6I", call)
        assert (kind, rpc, program, version) == (0, 2, 100000, 4)
        if silent:
            continue
        reply = struct.pack(">6I", xid, 1, 0, 0, 0, 0) + results(procedure)
        peer.sendall(struct.pack(">I", 0x80000000 | len(reply)) + reply)
    peer.close()
