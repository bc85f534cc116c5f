"""Broken connections and reboots of the server, paced by what the workers get done meanwhile."""
import random, threading

import control

BETWEEN = 600           # operations of all workers
REBOOT_EVERY = 4        # one fault of so many is a reboot
GRACE = 1               # s
EACH_WORKER = 5         # operations of every worker between two faults, so that recovery ends


class Faults:
    def __init__(self, world, path):
        self.world, self.path = world, path
        self.disconnects = self.reboots = 0
        self.random = random.Random(f"{world.seed}/faults")
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def command(self, line):
        answer = control.send(self.path, line)
        if not answer.startswith("ok"):
            raise RuntimeError(f"control: {line}: {answer}")

    def wait_for_progress(self):
        before = list(self.world.operations)
        needed = self.random.randint(BETWEEN // 2, 2 * BETWEEN)
        while not self.ended.wait(0.01):
            each = [now - then for now, then in zip(self.world.operations, before)]
            if sum(each) >= needed and min(each) >= EACH_WORKER:
                return True
        return False

    def run(self):
        count = 0
        while self.wait_for_progress():
            count += 1
            if self.world.reboots and count % REBOOT_EVERY == 0:
                self.command(f"reboot {GRACE}")
                self.reboots += 1
            else:
                self.command("disconnect")
                self.disconnects += 1

    def end(self):
        self.ended.set()
        self.thread.join()

    def summary(self):
        return f"{self.disconnects} broken connections, {self.reboots} reboots"
