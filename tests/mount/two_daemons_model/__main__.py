"""Two mounts of one export against each other: random operations and a model of what is permitted.

    python3 two_daemons_model [options] SERVER-DIRECTORY MOUNT MOUNT

Several processes on each mount work on the same objects at random, and each result is compared with
what NFS's close-to-open consistency permits. The model knows the true order of events, because all
processes share one clock and memory outside the mounts. It holds that

* after fsync or close by A, and an open by B that begins later, B sees A's data (`blocks`, `appends`);
* where only one has a file open at a time, its length and bytes are then exactly those that the last one left, however it
  changed them: by write, ftruncate, stores in a mapping, a file renamed over the name (`turns`);
* on A's own mount a write is seen as soon as it has returned, by everybody there (`blocks`);
* otherwise a read may give the old or the new content of any part of a block, but nothing else: each
  eight bytes are tagged with file, block, generation and writer, so that zeros, parts of another
  file, or content older than permitted are recognised (`blocks`);
* under a lock, fcntl or flock, a file's length and the content of the locked range are exactly those
  that the last holder left when it gave it up, without any fsync; no two hold conflicting locks, and a
  lock that is waited for is granted in the end (`locked`);
* processes of one mount that append with O_APPEND overwrite and lose nothing, and none finds a hole in the
  file meanwhile (`appends`);
* a lookup, listing or stat may show a state that was replaced no longer ago than the longest attribute
  timeout (acdirmax, acregmax), never one that is older, and never one that the mount itself has
  replaced; with noac none that is over. A change may fail, too, where its caller can have been shown
  such a state, but then it has no effect (`names`, `attributes`);
* attributes read from a file that was opened are of the time of the open or later (`attributes`);
* a rename replaces its target in one step: the name is never missing and never half written (`names`);
* of all who make a name with O_EXCL, mkdir, symlink or link exactly one succeeds (`races`). In a run
  with reboots of the server only O_EXCL is used: NFS has no means to tell who made a directory when
  server and answer were lost together;
* an open file that loses its name stays usable (`unlinked`);
* what was acknowledged by fsync or close is in the served directory, also if connections break and the
  server reboots, with a grace period, in the middle of it.

In the end both mounts and the served directory must be equal. The seed is printed; the same seed makes
the same choices, but not the same interleaving. Exit status 1: a violation, with the last operations on its object.
"""
import argparse, os, shutil, signal, time, traceback

from appends import Appends
from attributes import Attributes
from blocks import Blocks
from faults import Faults
from locked import Locked
from names import Names
from races import Races, Unlinked
from trees import describe, differences
from turns import Turns
from world import FORK, Violation, Worker, World

STUCK = 120  # s without one operation of a worker: longer than any recovery here takes
LAST = 80    # operations on the object that are shown after a violation


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", default=str(int.from_bytes(os.urandom(4), "big")))
    parser.add_argument("--staleness", type=float, required=True, help="longest attribute timeout, s")
    parser.add_argument("--workers", type=int, default=3, help="processes on each mount")
    parser.add_argument("--only", help="these kinds of objects, separated by commas")
    parser.add_argument("--control", help="control socket of the server, to break things")
    parser.add_argument("--reboots", action="store_true", help="reboot the server, too")
    parser.add_argument("server")
    parser.add_argument("mounts", nargs=2)
    return parser.parse_args()


def work(world, games, number):
    worker = Worker(world, number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while not world.stop.value:
            worker.random.choice(games).step(worker)
            worker.note("")
    except Exception as error:  # of the model, too
        kind = "" if isinstance(error, Violation) else f"unexpected {type(error).__name__}: "
        where = traceback.extract_tb(error.__traceback__)[-1]
        world.report(f"by worker {number} on mount {worker.mount}: {kind}{error} "
                     f"({os.path.basename(where.filename)}:{where.lineno})")
    if world.failed.value:
        worker.save(world.histories)
    os._exit(0)


def watch(world, seconds):
    """Until the time is over, or a worker failed or makes no progress."""
    over = time.monotonic() + seconds
    moved = [(0, time.monotonic())] * world.count
    while time.monotonic() < over and not world.stop.value:
        time.sleep(0.2)
        for number, count in enumerate(world.operations):
            if count != moved[number][0]:
                moved[number] = (count, time.monotonic())
            elif time.monotonic() - moved[number][1] > STUCK:
                doing = world.now_doing[number].value.decode(errors="replace")
                world.report(f"worker {number} does not get on with: {doing}")
    world.stop.value = 1


def join(world, processes):
    over = time.monotonic() + STUCK
    for number, process in enumerate(processes):
        process.join(max(0.1, over - time.monotonic()))
        if process.is_alive():
            doing = world.now_doing[number].value.decode(errors="replace")
            world.report(f"worker {number} does not end: {doing}")
            process.kill()


def compare(world):
    """When no attribute is believed any more, all have to agree."""
    time.sleep(world.window)
    trees = [describe(root) for root in [world.server, *world.mounts]]
    for mount, tree in enumerate(trees[1:]):
        found = differences(trees[0], tree)
        if found:
            raise Violation(f"mount {mount} differs from the server:\n" + "\n".join(found[:20]))


def main():
    options = arguments()
    world = World(options.mounts, options.server, options.staleness, options.reboots, options.seed,
                  options.workers)
    kinds = (Blocks, Locked, Names, Attributes, Appends, Races, Unlinked, Turns)
    if options.only:
        kinds = [kind for kind in kinds if kind.__name__.lower() in options.only.split(",")]
    print(f"seed {options.seed}, {options.seconds:g} s", flush=True)
    games = [kind(world) for kind in kinds]
    processes = [FORK.Process(target=work, args=(world, games, number)) for number in range(world.count)]
    for process in processes:
        process.start()
    faults = Faults(world, options.control) if options.control else None
    watch(world, options.seconds)
    if faults:
        faults.end()
    join(world, processes)
    if not world.failed.value:
        try:
            for game in games:
                game.finish()
            compare(world)
        except Violation as error:
            world.report(str(error))
    print(f"{world.done()} operations" + (f", {faults.summary()}" if faults else ""), flush=True)
    if world.failed.value:
        world.tell_history(LAST)
        print(f"again: --seed {options.seed}", flush=True)
    shutil.rmtree(world.histories)
    os._exit(1 if world.failed.value else 0)


main()
