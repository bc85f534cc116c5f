"""The gtest programs: which of them test a file, and whether one of them notices a break."""
import os
import re
import resource
import shutil
import subprocess
import tempfile
import threading
import time

import breaks as data
import tree

LEAST_SECONDS = 20  # of processor time; what hangs in virtual time uses it up
TAIL = 20000        # bytes of the output that are looked at
MEMORY = 6 << 30


def read_folders():
    """Folder to programs, of programs.txt."""
    found = {}
    for line in (data.HERE / "programs.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            folder, *programs = line.split()
            found[folder] = programs
    return found


def programs_for(file, folders):
    """The programs that test `file`."""
    fitting = [folder for folder in folders if file.startswith(folder + "/")]
    return folders[max(fitting, key=len)] if fitting else []


def last_of(stream):
    """The end of what a program prints; one that has gone wild prints without end."""
    tail = b""
    while chunk := stream.read1(1 << 16):
        tail = (tail + chunk)[-TAIL:]
    return tail.decode(errors="replace")


def run(program, one, seconds):
    """Runs `program` with the break `one` (none: as it is). Returns None, or how it failed."""
    def bounds():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    folder = tempfile.mkdtemp(prefix="nfsrdma-mutation-")
    environment = dict(os.environ, GTEST_FAIL_FAST="1", TMPDIR=folder)
    environment.pop("NFSRDMA_BREAK", None)
    if one:
        environment["NFSRDMA_BREAK"] = one.name
    process = subprocess.Popen([tree.BUILD / "bin" / program], env=environment, cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, preexec_fn=bounds)
    timer = threading.Timer(4 * seconds, process.kill)
    timer.start()
    text = last_of(process.stdout)
    process.wait()
    timer.cancel()
    shutil.rmtree(folder, ignore_errors=True)
    if process.returncode == 0:
        return None
    failed = re.findall(r"^\[  FAILED  \] ([^\s,]+\.[^\s,]+)", text, re.M)
    at = re.findall(r"^\[ RUN      \] (\S+)", text, re.M)
    how = f"ends by signal {-process.returncode} in " if process.returncode < 0 else ""
    return how + (failed or at[-1:] or ["?"])[0]


def baseline(names):
    """Runs each program as it is; returns its bound in seconds of processor time."""
    bounds = {}
    for name in names:
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        failed = run(name, None, 300)
        if failed:
            failed = run(name, None, 300)
        if failed:
            raise RuntimeError(f"{name} fails without a break: {failed}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        bounds[name] = max(LEAST_SECONDS, 5 * used)
        print(f"{name}: {time.monotonic() - begun:.1f} s", flush=True)
    return bounds


def notice(one, names, bounds):
    """The first program that notices a break, and how; None when none does."""
    for name in names:
        failed = run(name, one, bounds[name])
        if failed:
            return f"{name}: {failed}"
    return None
