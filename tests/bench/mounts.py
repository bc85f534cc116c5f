"""What the benchmarks share: programs that run, mounts, their counters, and tables."""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

PATIENCE_SECONDS = 30


def scratch(name):
    """A folder for as long as a `with` lasts, in memory where the system has that."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix=f"nfsrdma-{name}-", dir=memory)


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
        self.listeners = 0

    def start(self, *command, **options):
        process = subprocess.Popen([str(part) for part in command], **options)
        self.processes.append(process)
        return process

    def listen(self, *command, saying="listening on"):
        """Starts a program that says where it listens, in a line that begins so; returns its port."""
        self.listeners += 1
        out = self.work / f"listener{self.listeners}.out"
        self.start(*command, stdout=out.open("w"))

        def said():
            return [line for line in out.read_text().splitlines(True) if line.startswith(saying) and line.endswith("\n")]
        wait_until(said, f"{command[0]}: {saying}")
        return said()[0].split()[-1].rsplit(":", 1)[1]

    def serve(self, *options):
        """Starts a responder on work/export; returns its port."""
        export = self.work / "export"
        export.mkdir(exist_ok=True)
        return self.listen(self.bin / "nfsrdma-responder", "--export", export, "--port", "0", *options)

    def serve_tcp(self, *options):
        """The same by TCP."""
        return self.listen(self.bin / "nfsrdma-responder", "--export", self.work / "export", "--port", "0",
                           "--tcp-port", "0", *options, saying="serving TCP on")

    def delay(self, port, milliseconds):
        """Starts a proxy that adds a round trip; returns its port."""
        return self.listen(self.bin / "bench-delay", port, f"{milliseconds:g}")

    def stream(self):
        """Starts the server of bare copies; returns its port."""
        return self.listen(self.bin / "bench-stream", "serve")

    @staticmethod
    def free_port():
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    @staticmethod
    def wait_for_port(port):
        def answers():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0
        wait_until(answers, f"listening on port {port}")

    def fill(self, size, files, tree_bytes):
        """work/export/data of `size` bytes, and work/tree with small files to be copied."""
        export, tree = self.work / "export", self.work / "tree"
        export.mkdir(exist_ok=True)
        (export / "data").write_bytes(os.urandom(size))
        tree.mkdir()
        for i in range(files):
            (tree / f"file{i}").write_bytes(os.urandom(tree_bytes))

    def mount(self, name, *command):
        point = self.work / name
        point.mkdir()
        own = self.bin / command[0]
        process = self.start(own if own.exists() else command[0], *command[1:], point,
                             stdout=subprocess.DEVNULL, stderr=(self.work / f"{name}.log").open("w"))
        self.mounts.append(point)
        wait_until(lambda: os.path.ismount(point), f"mounting {name}")
        return point, process

    def close(self):
        """Ends all mounts and programs; others may be started then."""
        for point in self.mounts:
            subprocess.run(["fusermount3", "-u", point], check=False)
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
            process.wait()
        self.mounts.clear()
        self.processes.clear()


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
