"""Who is compared: file systems that are mounted on the same machine, over the same directory in memory.

A contender has a mount point, the processes whose processor time is its cost, and, where it counts them, its round
trips. One that this machine lacks says why, and is left out.
"""
import os
import pathlib
import shutil
import subprocess

import jobs
from mounts import Counters

LOOKING_MICROSECONDS = 50  # before it sleeps
RELAY_READ_AHEAD = 8 << 10  # KiB, of the kernel: the relay has none of its own
TICKS = os.sysconf("SC_CLK_TCK")
DELAYED = ("iwarp", "tcp", "ganesha", "sshfs", "relay")  # those with a network in between
GANESHA = "/usr/bin/ganesha.nfsd"
SFTP_SERVER = "/usr/lib/openssh/sftp-server"


class Missing(Exception):
    """This machine cannot have that contender; the text says what it lacks."""


class Contender:
    """`jobs` are those that it can do."""

    def __init__(self, name, point, processes, counters=None, jobs=tuple(jobs.JOBS)):
        self.name, self.point, self.processes, self.counters, self.jobs = name, point, processes, counters, jobs

    def cpu_seconds(self):
        """Processor time of its processes on this side so far."""
        total = 0
        for process in self.processes:
            fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / TICKS
        return total

    def round_trips(self):
        """Requests that were sent to the server so far; None: it does not count them."""
        return self.counters.read()["session_requests"] if self.counters else None


def need(program, package):
    if shutil.which(program) is None and not os.access(program, os.X_OK):
        raise Missing(f"no {program} (Debian: {package})")


def nfsrdma(bench, name, port, export, options):
    """A mount of `export` at `port`, with its counters."""
    stats = bench.work / f"{name}.stats"
    point, process = bench.mount(name, "nfsrdma", "-f", "-o", f"port={port},stats={stats},{options}",
                                 f"127.0.0.1:{export}")
    return Contender(name, point, [process], Counters(process, stats))


def responder(serve, *options):
    """A mount of the responder, which is started by this method of the bench."""
    def start(bench, name, proxy):
        return nfsrdma(bench, name, proxy(getattr(bench, serve)("--not-durable")), "/", ",".join(options))
    return start


def ganesha(bench, name, proxy):
    need(GANESHA, "nfs-ganesha nfs-ganesha-vfs")
    if os.getuid() != 0:
        raise Missing("NFS-Ganesha needs root")
    port, work = bench.free_port(), bench.work
    plugins = next(pathlib.Path("/usr/lib").glob("*/ganesha"))
    (work / "recovery").mkdir(exist_ok=True)
    (work / "ganesha.conf").write_text(f"""
NFS_CORE_PARAM {{ NFS_Port = {port}; Bind_addr = 127.0.0.1; Protocols = 4; Plugins_Dir = "{plugins}";
  Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = false; }}
NFSV4 {{ Minor_Versions = 1; Graceless = true; RecoveryBackend = fs_ng; RecoveryRoot = "{work}/recovery";
  Only_Numeric_Owners = true; }}
NFS_KRB5 {{ Active_krb5 = false; }}
EXPORT {{ Export_Id = 1; Path = "{work}/export"; Pseudo = /export; Protocols = 4; Transports = TCP; SecType = sys, none;
  Access_Type = RW; Squash = No_Root_Squash; MaxRead = 1048576; MaxWrite = 1048576; FSAL {{ Name = VFS; }} }}
""")
    bench.start(GANESHA, "-F", "-f", work / "ganesha.conf", "-L", work / "ganesha.log", "-p", work / "ganesha.pid",
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bench.wait_for_port(port)
    return nfsrdma(bench, name, proxy(port), "/export", "proto=tcp")


def sshfs(bench, name, proxy):
    """By sftp, without ssh in between: encryption is not what is compared."""
    need("sshfs", "sshfs")
    need("socat", "socat")
    need(SFTP_SERVER, "openssh-sftp-server")
    port = bench.free_port()
    bench.start("socat", f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork,nodelay", f"EXEC:{SFTP_SERVER}",
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bench.wait_for_port(port)
    point, process = bench.mount(name, "sshfs", "-f", "-o", f"directport={proxy(port)}", f"127.0.0.1:{bench.work}/export")
    return Contender(name, point, [process])


def bindfs(bench, name, _):
    need("bindfs", "bindfs")
    point, process = bench.mount(name, "bindfs", "-f", "--multithreaded", bench.work / "export")
    return Contender(name, point, [process])


def memory(bench, name, _):
    """Answers from memory: what FUSE itself costs. It has one file, and makes none."""
    point, process = bench.mount(name, "fuse-memory", "--file", f"data={bench.file_bytes}")
    return Contender(name, point, [process], jobs=jobs.DATA_ONLY)


def relay(*options):
    """The least that a file system over a network does."""
    served = [option for option in options if option in BOTH_SIDES]

    def start(bench, name, proxy):
        port = bench.listen(bench.bin / "bench-relay", "serve", *served, bench.work / "export")
        point, process = bench.mount(name, "bench-relay", "mount", *options, proxy(port))
        if os.getuid() == 0:
            device = os.stat(point).st_dev
            limit = pathlib.Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
            limit.write_text(f"{RELAY_READ_AHEAD}")
        return Contender(name, point, [process], jobs=jobs.PLAIN)
    return start


LOOK = ("--look", LOOKING_MICROSECONDS)
BOTH_SIDES = ("--segments", "--nfs")  # what the relay's server has to know, too
KEPT_MIB = "24"  # what nfsrdma has uncommitted, as a rule, when much is written
SLEEPS = "busy_poll=0"  # at once when it has nothing to do
IWARP = ("serve", "proto=rdma,provider=iwarp")
TCP = ("serve_tcp", "proto=tcp")
ALL = {"iwarp": responder(*IWARP), "iwarp sleeps": responder(*IWARP, SLEEPS), "iwarp ring": responder(*IWARP, "io_uring=auto"),
       "tcp": responder(*TCP), "tcp sleeps": responder(*TCP, SLEEPS), "ganesha": ganesha, "sshfs": sshfs, "bindfs": bindfs,
       "memory": memory, "relay": relay(), "relay keep": relay("--keep", KEPT_MIB), "relay segments": relay("--segments"),
       "relay segments keep": relay("--segments", "--keep", KEPT_MIB), "relay ring": relay("--ring"), "relay look": relay(*LOOK),
       "relay segments look": relay("--segments", *LOOK), "relay ring look": relay("--ring", *LOOK),
       "relay nfs": relay("--nfs", *LOOK)}
