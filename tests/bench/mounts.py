"""What the benchmarks share: programs that run, mounts, their counters, and tables."""
import os
import pathlib
import signal
import subprocess
import sys
import time

PATIENCE_SECONDS = 30


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"bench: {what} did not happen")
        time.sleep(0.02)


class Bench:
    def __init__(self, build, work):
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.work = pathlib.Path(work)
        self.processes = []
        self.mounts = []

    def start(self, *command, **options):
        process = subprocess.Popen([str(part) for part in command], **options)
        self.processes.append(process)
        return process

    def serve(self, *options):
        """Starts a responder on work/export; returns its port."""
        export = self.work / "export"
        export.mkdir(exist_ok=True)
        out = self.work / f"responder{len(self.processes)}.out"
        self.start(self.bin / "nfsrdma-responder", "--export", export, "--port", "0", *options,
                   stdout=out.open("w"))
        wait_until(lambda: out.read_text().startswith("listening on"), "listening")
        return out.read_text().split()[-1].rsplit(":", 1)[1]

    def mount(self, name, *command):
        point = self.work / name
        point.mkdir()
        process = self.start(self.bin / command[0], *command[1:], point,
                             stdout=subprocess.DEVNULL, stderr=(self.work / f"{name}.log").open("w"))
        self.mounts.append(point)
        wait_until(lambda: os.path.ismount(point), f"mounting {name}")
        return point, process

    def close(self):
        for point in self.mounts:
            subprocess.run(["fusermount3", "-u", point], check=False)
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
            process.wait()


def measure(*command):
    """Runs a bench program and returns its key=value line as numbers."""
    out = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return {key: float(value) for key, value in (pair.split("=") for pair in out.stdout.split())}


class Counters:
    """The counters of a mount, read by asking it to write them."""

    def __init__(self, process, path):
        self.process, self.path = process, path

    def read(self):
        self.path.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        wait_until(lambda: self.path.exists() and "\nfs_inodes " in self.path.read_text(), "statistics")
        pairs = (line.split() for line in self.path.read_text().splitlines())
        return {name: int(value) for name, value in pairs}


def table(title, rows):
    print(f"\n{title}")
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  " + "  ".join(str(cell).rjust(width) if i else str(cell).ljust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))))
