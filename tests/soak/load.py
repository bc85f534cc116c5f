#!/usr/bin/env python3
"""The load of soak.sh: workers on two mounts until the time is over, faults meanwhile, samples of the daemons, and the
report. Ends with 1 when a worker failed, data differed, or something has grown."""
import argparse
import faulthandler
import os
import subprocess
import sys
import threading
import time

import workers

SAMPLE_SECONDS = 2
# A request that waits for longer is told of in the report, as long as there are no more of them.
LATE_SECONDS = 5
MOST_LATE = 20
# After the time is over a worker ends its round; one that has not by then waits for what does not come.
LAST_ROUND_SECONDS = 300
# Made when they are first needed, and kept: an eventfd of each of two threads.
LAZY_DESCRIPTORS = 2
# What may lie between the middle and the end of a run when nothing grows: buffers are touched as they are needed.
GROWTH_KIB = 48 * 1024


class Sampler:
    """What the daemons hold, as /proc and their control sockets say."""

    def __init__(self, ctl, pids, sockets):
        self.ctl, self.pids, self.sockets = ctl, pids, sockets
        self.memory = {pid: [] for pid in pids}
        self.longest_wait = 0
        self.late = {}  # request without its time: the longest it was seen to wait, in words

    def descriptors(self, pid):
        return len(os.listdir(f"/proc/{pid}/fd"))

    def sample(self):
        for pid in self.pids:
            with open(f"/proc/{pid}/status") as status:
                rss = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
            self.memory[pid].append(rss)
        for socket in self.sockets:
            waited = int(self.identity(socket, "waiting_seconds"))
            self.longest_wait = max(self.longest_wait, waited)
            for each in self.waiting(socket) if waited > LATE_SECONDS else []:
                self.late[each["request"].split(" began ")[0]] = each["request"]

    def ask(self, *words):
        return subprocess.run([self.ctl, *words], capture_output=True, text=True, timeout=60, check=True).stdout

    def identity(self, socket, name):
        import json
        return json.loads(self.ask("list", "--json", socket))[0][name]

    def counters(self, socket):
        pairs = (line.split() for line in self.ask("counters", socket).splitlines() if not line.startswith("#"))
        return {name: int(value) for name, value in pairs}

    def waiting(self, socket):
        import json
        return json.loads(self.ask("waiting", "--json", socket))

    def growth(self, pid):
        """From the middle of the run to its end, of the medians of a quarter each."""
        samples = self.memory[pid]
        quarter = max(1, len(samples) // 4)
        middle = sorted(samples[len(samples) // 2:][:quarter])
        end = sorted(samples[-quarter:])
        return end[len(end) // 2] - middle[len(middle) // 2]


def settle(what, limit=600):
    """Until `what` is true; False when it never is."""
    for _ in range(limit):
        if what():
            return True
        time.sleep(0.1)
    return False


def tell_who_waits(running, sampler):
    """Of workers that do not end: where they are, what their programs wait for in the kernel, and the mounts' requests."""
    faulthandler.dump_traceback(all_threads=True)
    subprocess.run(["ps", "-e", "-o", "pid,ppid,stat,wchan:32,args"], stdout=sys.stderr, check=False)
    print("FOUND: still at work:", *(each.name for each in running if each.is_alive()), file=sys.stderr)
    for socket in sampler.sockets:
        for request in sampler.waiting(socket):
            print(f"  {socket}: {request}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, required=True)
    for name in ("report", "scratch", "control", "ctl", "pids", "sockets"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("mounts", nargs=2)
    said = parser.parse_args()
    pids = [int(pid) for pid in said.pids.split(",")]
    sampler = Sampler(said.ctl, pids, said.sockets.split(","))
    os.makedirs(said.scratch)

    before = {pid: sampler.descriptors(pid) for pid in pids}
    begun = time.monotonic()
    end = begun + said.seconds
    pool = workers.all_workers(said.mounts, said.scratch)
    running = [threading.Thread(target=each.run, args=(end,), name=each.name, daemon=True) for each in pool]
    injector = subprocess.Popen([os.path.join(os.path.dirname(__file__), "faults.py"), said.control, str(end)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for thread in running:
        thread.start()
    while any(thread.is_alive() for thread in running):
        if time.monotonic() > end + LAST_ROUND_SECONDS:
            tell_who_waits(running, sampler)
            injector.kill()
            return 1
        sampler.sample()
        time.sleep(SAMPLE_SECONDS)
    for thread in running:
        thread.join()
    injected = injector.communicate()[0].strip()
    seconds = time.monotonic() - begun

    findings = [f"{each.name}: {failure}" for each in pool for failure in each.failures]
    if injector.returncode != 0:
        findings.append(f"faults: {injected}")
    for each in pool:
        if each.rounds == 0:
            findings.append(f"{each.name}: not one round")
    late = [] if settle(lambda: not any(sampler.waiting(socket) for socket in sampler.sockets)) else [
        request for socket in sampler.sockets for request in sampler.waiting(socket)]
    findings += [f"still waits: {request}" for request in late]
    settle(lambda: all(sampler.descriptors(pid) <= before[pid] + LAZY_DESCRIPTORS for pid in pids[:2]), 100)
    after = {pid: sampler.descriptors(pid) for pid in pids}
    for pid, name in zip(pids, ("first mount", "second mount", "server")):
        if name != "server" and after[pid] > before[pid] + LAZY_DESCRIPTORS:
            findings.append(f"{name}: {after[pid] - before[pid]} descriptors more than before")
        if name != "server" and sampler.growth(pid) > GROWTH_KIB:
            findings.append(f"{name}: {sampler.growth(pid)} KiB more at the end than in the middle")

    with open(said.report, "w") as report:
        def line(text=""):
            print(text, file=report)
        line(f"soak: {seconds:.0f} s")
        line(f"{'load':<12} {'rounds':>8} {'per min':>9} {'what is counted':<20} {'of that':>10}")
        for each in pool:
            line(f"{each.name:<12} {each.rounds:>8} {each.rounds * 60 / seconds:>9.1f} {each.unit:<20} {each.units:>10}")
        line(f"faults: {injected}")
        for pid, name in zip(pids, ("first mount", "second mount", "server")):
            samples = sampler.memory[pid]
            line(f"{name}: memory {samples[0]} KiB at first, {samples[len(samples) // 2]} in the middle, {samples[-1]} "
                 f"at the end, {max(samples)} at most; descriptors {before[pid]} before, {after[pid]} after")
        for socket, name in zip(sampler.sockets, ("first mount", "second mount")):
            counters = sampler.counters(socket)
            line(f"{name}: {counters['reconnects']} connections made anew, {counters['stalls']} stalls, "
                 f"{sum(value for key, value in counters.items() if key.startswith('nfs_') and key.endswith('_requests'))} requests")
        line(f"longest wait for the server: {sampler.longest_wait} s")
        for request in list(sampler.late.values())[:MOST_LATE]:
            line(f"  late: {request}")
        for finding in findings:
            line(f"FOUND: {finding}")
        if not findings:
            line("no growth, nothing late, no difference")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
