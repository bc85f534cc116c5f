#!/usr/bin/env python3
"""The kernel's client and nfsrdma on the same export, one after the other, round by round.

    beside_kernel.py ADDRESS DEVICE PATH    in the guest; prints a table

Rates are medians and compare only with each other. Calls are what knfsd has counted, so both columns
are measured by the same hand. Exit status 1: an operation costs nfsrdma more calls than the kernel's client.
"""
import os
import statistics
import subprocess
import sys
import time

ROUNDS = int(os.environ.get("NFSRDMA_ROUNDS", 3))
FILES = 200
MIB = 1 << 20
BULK_MIB = 32
BLOCK = os.urandom(MIB)
SMALL = b"x" * 1000
# Otherwise those of a slow guest run out between two looks.
ATTRIBUTES = "actimeo=600"
# Calls that belong to no operation: a lease that is renewed while the guest is slow.
STRAY_CALLS = 2
NFSRDMA = "/share/programs/nfsrdma"


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def server_counts():
    """Calls, and operations within them, that knfsd has served."""
    with open("/proc/net/rpc/nfsd") as lines:
        rows = {line.split()[0]: [int(word) for word in line.split()[1:] if word.isdigit()] for line in lines}
    return rows["rpc"][0], sum(rows["proc4ops"][1:])


class Kernel:
    name = "kernel"

    def __init__(self, address, _device, path):
        self.source = f"{address}:{path}"

    def mount(self, at):
        run("mount", "-t", "nfs", "-o", f"vers=4.1,proto=rdma,port=20049,nosharecache,{ATTRIBUTES}", self.source, at)

    def unmount(self, at):
        run("umount", at)


class Nfsrdma(Kernel):
    name = "nfsrdma"

    def __init__(self, address, device, path):
        super().__init__(address, device, path)
        self.device = device

    def mount(self, at):
        run(NFSRDMA, "-o", f"provider=verbs,device={self.device},{ATTRIBUTES}", self.source, at)

    def unmount(self, at):
        run("fusermount3", "-u", at)
        while subprocess.run(["pgrep", "-x", "nfsrdma"], stdout=subprocess.DEVNULL).returncode == 0:
            time.sleep(0.01)


def names(at):
    return [f"{at}/beside/{i}" for i in range(FILES)]


def write_bulk(at):
    with open(f"{at}/bulk", "wb", buffering=0) as file:
        for _ in range(BULK_MIB):
            file.write(BLOCK)
        os.fsync(file.fileno())


def read_bulk(at):
    with open(f"{at}/bulk", "rb", buffering=0) as file:
        for _ in range(BULK_MIB):
            if file.read(MIB) != BLOCK:
                sys.exit("wrong data")


def create(at):
    os.mkdir(f"{at}/beside")
    for name in names(at):
        with open(name, "wb") as file:
            file.write(SMALL)


def read_small(at):
    for name in names(at):
        with open(name, "rb") as file:
            if file.read() != SMALL:
                sys.exit("wrong data")


def list_long(at):
    if len([entry.stat() for entry in os.scandir(f"{at}/beside")]) != FILES:
        sys.exit("wrong listing")


def stat(at):
    for name in names(at):
        os.stat(name)


def remove(at):
    for name in names(at):
        os.unlink(name)
    os.rmdir(f"{at}/beside")
    os.unlink(f"{at}/bulk")


# What is measured, how many operations it is, whether the mount is made anew before (nothing cached).
PHASES = [("write 32 MiB, fsync", write_bulk, BULK_MIB, "MiB/s", False),
          ("read 32 MiB", read_bulk, BULK_MIB, "MiB/s", True),
          ("create 200 files", create, FILES, "per s", False),
          ("stat, first time", stat, FILES, "per s", True),
          ("stat again", stat, FILES, "per s", False),
          ("list with attributes", list_long, FILES, "per s", True),
          ("read 200 files", read_small, FILES, "per s", True),
          ("remove 200 files", remove, FILES, "per s", False)]


def one_round(client, at, results):
    client.mount(at)
    for phase, work, operations, _, anew in PHASES:
        if anew:
            client.unmount(at)
            client.mount(at)
        calls, inner = server_counts()
        start = time.monotonic()
        work(at)
        took = time.monotonic() - start
        calls_after, inner_after = server_counts()
        results.setdefault((phase, client.name), []).append(
            (operations / took, (calls_after - calls) / operations, (inner_after - inner) / operations))
    client.unmount(at)


def main():
    clients = [Kernel(*sys.argv[1:4]), Nfsrdma(*sys.argv[1:4])]
    at = "/mnt"
    results = {}
    for _ in range(ROUNDS):
        for client in clients:
            one_round(client, at, results)
    print(f"{'':22} {'kernel':>9} {'nfsrdma':>9}       {'ratio':>6}  {'calls each':>14}  {'operations each':>15}")
    more = []
    for phase, _, operations, unit, _ in PHASES:
        kernel, ours = (
            [statistics.median(sample[i] for sample in results[phase, client.name]) for i in range(3)]
            for client in clients)
        print(f"{phase:22} {kernel[0]:9.0f} {ours[0]:9.0f} {unit:5} {ours[0] / kernel[0]:6.2f}"
              f"  {kernel[1]:6.2f} {ours[1]:7.2f}  {kernel[2]:7.2f} {ours[2]:7.2f}")
        if ours[1] > kernel[1] + STRAY_CALLS / operations:
            more.append(phase)
    if more:
        sys.exit(f"more calls than the kernel's client: {', '.join(more)}")


main()
