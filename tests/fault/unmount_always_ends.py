"""Each state of a server with each way to end a mount: the daemon is gone in bounded time.

    unmount_always_ends.py DIRECTORY-OF-PROGRAMS PROTO

A server that is of no use costs a daemon its patience: two seconds, and ten when there is data to
save; the bounds are several times that, for a busy machine, and the time it took is printed. A caller
who waits for the server has bytes that are written and not committed, as well as some that are only
gathered; without one all that was written has been committed. Cells run side by side, each with a server
of its own. Exit status 1: a daemon that went on.
"""
import concurrent.futures, contextlib, os, select, shutil, signal, socket, subprocess, sys, tempfile, time

import control

BOUND = 40      # s to be gone, with data to save
BOUND_IDLE = 8  # the same with none
AT_ONCE = 6     # cells
COMING_UP = 30  # s for a server or a mount

programs, proto = sys.argv[1:3]


def wait_for(what, condition, process):
    over = time.monotonic() + COMING_UP
    while not condition():
        if process.poll() is not None:
            raise RuntimeError(f"{what}: the program ended with {process.returncode}")
        if time.monotonic() > over:
            raise RuntimeError(f"waited in vain for {what}")
        time.sleep(0.02)


def end_of(process, bound):
    """Seconds until it has ended, or None."""
    if process.poll() is not None:
        return 0.0
    start = time.monotonic()
    poll = select.poll()
    descriptor = os.pidfd_open(process.pid)
    poll.register(descriptor, select.POLLIN)
    gone = poll.poll(bound * 1000)
    os.close(descriptor)
    return time.monotonic() - start if gone else None


class Cell:
    def __init__(self, server, way, idle=False):
        self.server, self.way, self.idle = server, way, idle
        self.bound = BOUND_IDLE if idle else BOUND
        self.user = None
        self.work = tempfile.mkdtemp(prefix="nfsrdma-unmount-")
        self.mount = self.work + "/mnt"
        self.processes = []
        os.mkdir(self.mount)
        os.mkdir(self.work + "/export")

    def start(self, name, *command):
        with open(f"{self.work}/{name}.log", "w") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def log(self, name):
        with open(f"{self.work}/{name}.log") as log:
            return log.read()

    def control(self, line):
        if not control.send(self.work + "/control", line).startswith("ok"):
            raise RuntimeError("control: " + line)

    def start_server(self, *more):
        self.responder = self.start(
            "responder", programs + "/nfsrdma-responder", "--export", self.work + "/export", "--port", "0",
            "--tcp-port", "0", "--control", self.work + "/control", "--not-durable", "--lease", "10", *more)
        wait_for("the server", lambda: "serving TCP on" in self.log("responder"), self.responder)
        word = "serving TCP on" if proto == "tcp" else "listening on"
        line = [line for line in self.log("responder").splitlines() if line.startswith(word)][0]
        return int(line.rsplit(":", 1)[1])

    def start_daemon(self, port):
        self.daemon = self.start("daemon", programs + "/nfsrdma", "-f", "-o", f"proto={proto},port={port}",
                                 "127.0.0.1:/", self.mount)

    # Servers, once the mount is up.
    def well(self):
        pass

    def stopped(self):
        self.responder.send_signal(signal.SIGSTOP)

    def silent(self):
        self.control("stop")

    def killed(self):
        self.responder.kill()

    def recovering(self):
        """It has rebooted, and every step of the recovery is put off."""
        self.control("fault nfsstat=NFS4ERR_DELAY:op=EXCHANGE_ID")
        self.control("reboot 60")

    def putting_off(self):
        """It answers, and does nothing."""
        for operation in "WRITE", "COMMIT", "CLOSE":
            self.control("fault nfsstat=NFS4ERR_DELAY:op=" + operation)

    # Ways.
    def fusermount(self):
        if self.user:
            self.user.kill()
            self.user.wait()
        # The kernel closes a killed user's files a little later.
        wait_for("the mount to be idle", lambda: subprocess.run(
            ["fusermount3", "-u", self.mount], stderr=subprocess.DEVNULL).returncode == 0, self.daemon)

    def lazily(self):
        """The user is killed first: one that has begun to exit waits in close(2), and uses the mount."""
        if self.user:
            self.user.kill()
        subprocess.run(["fusermount3", "-u", "-z", self.mount], check=True)

    def term(self):
        self.daemon.terminate()

    def term_twice(self):
        self.daemon.terminate()
        self.daemon.terminate()

    def abort(self):
        with open(f"/sys/fs/fuse/connections/{self.connection}/abort", "w") as abort:
            abort.write("1")

    def use(self):
        """A program with a file open, bytes written, and a call that waits for the server."""
        self.user = self.start("user", sys.executable, "-c", """if True:
            import os, sys
            file = os.open(sys.argv[1] + "/file", os.O_RDWR | os.O_CREAT)
            os.write(file, bytes(1 << 20))
            print("ready", flush=True)
            sys.stdin.close()
            while not os.path.exists(sys.argv[2]): os.sched_yield()
            os.write(file, bytes(300))
            os.fsync(file)
            """, self.mount, self.work + "/go")
        wait_for("a user", lambda: "ready" in self.log("user"), self.user)

    def run_mounted(self):
        self.start_daemon(self.start_server())
        wait_for("the mount", lambda: os.path.ismount(self.mount), self.daemon)
        self.connection = os.minor(os.stat(self.mount).st_dev)
        if self.idle:
            with open(self.mount + "/file", "wb") as file:
                file.write(bytes(1 << 20))
        else:
            self.use()
        getattr(self, self.server)()
        open(self.work + "/go", "w").close()
        getattr(self, self.way)()

    def run_mounting(self):
        """The server takes the connection and says nothing, or stops after it has agreed to RDMA."""
        if self.server == "never_agrees":
            self.listener = socket.create_server(("127.0.0.1", 0))
            port = self.listener.getsockname()[1]
        else:
            port = self.start_server()
            self.control("stop")
        self.start_daemon(port)
        wait_for("a connection", lambda: self.has_connection(port), self.daemon)
        getattr(self, self.way)()

    @staticmethod
    def has_connection(port):
        wanted = f":{port:04X} 01"  # remote port, ESTABLISHED
        with open("/proc/net/tcp") as connections:
            return any(wanted in line for line in connections)

    def run(self):
        what = f"server {self.server}, {'nothing to save, ' if self.idle else ''}{self.way}"
        try:
            (self.run_mounting if self.server.startswith(("never", "silent_from")) else self.run_mounted)()
            took = end_of(self.daemon, self.bound)
            if took is None:
                return False, f"{what}: the daemon goes on after {self.bound} s\n{self.log('daemon')[-2000:]}"
            return True, f"{what}: {took:.2f} s"
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            return False, f"{what}: {error}\n{self.log('daemon')[-2000:]}"
        finally:
            self.clean_up()

    def clean_up(self):
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
                process.send_signal(signal.SIGCONT)
        subprocess.run(["fusermount3", "-u", "-z", self.mount], stderr=subprocess.DEVNULL)
        for process in self.processes:
            process.wait()
        shutil.rmtree(self.work, ignore_errors=True)


WAYS = ["fusermount", "lazily", "term", "term_twice"]
if os.access("/sys/fs/fuse/connections", os.W_OK) and os.listdir("/sys/fs/fuse/connections"):
    WAYS.append("abort")
SERVERS = ["well", "stopped", "silent", "killed", "recovering", "putting_off"]
cells = [Cell(server, way, idle) for server in SERVERS for way in WAYS for idle in (False, True)]
cells += [Cell(server, way) for server in ("never_agrees", "silent_from_the_start") for way in ("term", "term_twice")]
with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
    results = list(pool.map(Cell.run, cells))
print("\n".join(text for _, text in results))
sys.exit(0 if all(good for good, _ in results) else 1)
