"""Names that come, go and move: what lookups, opens and listings may show, and when."""
import contextlib, errno, os, stat
from world import FORK, History, RawValue, Violation

DIRECTORIES, PER_DIRECTORY = 2, 12
ABSENT, FILE, SYMLINK, DIRECTORY = range(4)
KIND_NAMES = ("absent", "file", "symlink", "directory")
RENAME_TRIES = 50


class Names:
    """Each name's changes are made by one worker at a time. Files and symbolic links say by their
    content which of all they are."""

    def __init__(self, world):
        self.world = world
        self.states = History(world, DIRECTORIES * PER_DIRECTORY)
        self.identities = RawValue("q", 0)
        self.counting = FORK.Lock()
        for directory in range(DIRECTORIES):
            os.makedirs(f"{world.server}/names/{directory}")
        os.mkdir(world.server + "/private")

    @staticmethod
    def path(thing):
        return f"names/{thing // PER_DIRECTORY}/n{thing % PER_DIRECTORY}"

    def step(self, worker):
        choice = worker.random.random()
        if choice < 0.45:
            self.change(worker)
        elif choice < 0.9:
            self.observe(worker, worker.random.randrange(DIRECTORIES * PER_DIRECTORY))
        else:
            self.list(worker, worker.random.randrange(DIRECTORIES))

    def new_identity(self):
        with self.counting:
            self.identities.value += 1
            return self.identities.value

    # Observing

    def observe(self, worker, thing):
        before = self.states.before(thing, worker.mount)
        path = f"{worker.root}/{self.path(thing)}"
        look = worker.random.choice((self.by_lstat, self.by_readlink, self.by_open))
        worker.note(f"{look.__name__} {self.path(thing)}")
        found, identity, failure = look(path)
        worker.result(f"{found} {identity} {failure}")
        possible = self.states.possible(thing, before)
        if possible is None:
            return
        if found is None:  # an error that says nothing of what is there
            if failure == errno.ESTALE and len(possible) > 1:
                return
            raise Violation(f"{look.__name__} {self.path(thing)}: {errno.errorcode[failure]}, possible {possible}")
        if not any(kind in found and identity in (None, its) for kind, its in possible):
            raise Violation(f"{look.__name__} {self.path(thing)}: {[KIND_NAMES[kind] for kind in found]} "
                            f"{identity}, possible {self.words(possible)}")

    @staticmethod
    def words(possible):
        return [f"{KIND_NAMES[kind]} {identity}" for kind, identity in sorted(possible)]

    # Each gives (kinds it can be, identity or None, errno).
    @staticmethod
    def by_lstat(path):
        try:
            mode = os.lstat(path).st_mode
        except OSError as error:
            return ((ABSENT,) if error.errno == errno.ENOENT else None), None, error.errno
        kinds = {stat.S_IFREG: FILE, stat.S_IFLNK: SYMLINK, stat.S_IFDIR: DIRECTORY}
        return (kinds[stat.S_IFMT(mode)],), None, 0

    @staticmethod
    def by_readlink(path):
        try:
            return (SYMLINK,), int(os.readlink(path)), 0
        except OSError as error:
            kinds = {errno.ENOENT: (ABSENT,), errno.EINVAL: (FILE, DIRECTORY)}
            return kinds.get(error.errno), None, error.errno

    @staticmethod
    def by_open(path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError as error:
            kinds = {errno.ENOENT: (ABSENT,), errno.ELOOP: (SYMLINK,)}
            return kinds.get(error.errno), None, error.errno
        try:
            if stat.S_ISDIR(os.fstat(fd).st_mode):
                return (DIRECTORY,), None, 0
            data = os.pread(fd, 100, 0)
            # Whatever else it is, the file was made with its whole content.
            return (FILE,), int(data) if data else -1, 0
        except OSError as error:
            return None, None, error.errno
        finally:
            os.close(fd)

    def list(self, worker, directory):
        things = range(directory * PER_DIRECTORY, (directory + 1) * PER_DIRECTORY)
        before = [self.states.before(thing, worker.mount) for thing in things]
        worker.note(f"list names/{directory}")
        listed = os.listdir(f"{worker.root}/names/{directory}")
        for thing, start in zip(things, before):
            possible = self.states.possible(thing, start)
            if possible is None:
                continue
            times = listed.count(f"n{thing % PER_DIRECTORY}")
            present = {kind != ABSENT for kind, _ in possible}
            if times > 1 and len(possible) == 1 or bool(times) not in present:
                raise Violation(f"{self.path(thing)} is listed {times} times, possible {self.words(possible)}")
        strangers = [name for name in listed if not name.startswith((".nfs", "n"))]
        if strangers:
            raise Violation(f"names/{directory} lists {strangers}")

    # Changing

    def change(self, worker):
        thing = worker.random.randrange(DIRECTORIES * PER_DIRECTORY)
        if not self.states.mutex[thing].acquire(block=False):
            return
        try:
            kind, identity = self.states.current(thing)
            if kind == ABSENT:
                worker.random.choice((self.make_file, self.make_file, self.make_symlink,
                                      self.make_directory))(worker, thing)
            elif worker.chance(0.35):
                self.move(worker, thing, kind, identity)
            elif kind == FILE and worker.chance(0.5):
                self.make_file(worker, thing)
            elif kind == DIRECTORY:
                self.apply(worker, thing, ABSENT, 0, "rmdir", os.rmdir)
            else:
                self.apply(worker, thing, ABSENT, 0, "unlink", os.unlink)
        finally:
            self.states.mutex[thing].release()

    def apply(self, worker, thing, kind, identity, word, call):
        """Changes one name; an error is right only where the caller may have been told an old state."""
        before = self.states.before(thing, worker.mount)
        worker.note(f"{word} {self.path(thing)}: {KIND_NAMES[kind]} {identity}")
        self.states.begin(thing, kind, identity)
        try:
            call(f"{worker.root}/{self.path(thing)}")
        except OSError as error:
            self.states.give_up(thing)
            self.judge(worker, error, word, [(thing, before)])
            return False
        self.states.end(thing, worker.mount)
        worker.result("done")
        return True

    def judge(self, worker, error, word, involved):
        worker.result(errno.errorcode[error.errno])
        explained = {errno.ENOENT, errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ESTALE}
        possible = [self.states.possible(*pair) for pair in involved]
        if error.errno not in explained or all(states is not None and len(states) == 1 for states in possible):
            raise Violation(f"{word} {[self.path(thing) for thing, _ in involved]}: {error}, possible {possible}")

    def make_file(self, worker, thing):
        identity = self.new_identity()
        private = f"{worker.root}/private/{worker.number}"
        replaces = self.states.current(thing)[0] == FILE
        worker.note(f"write private/{worker.number}: {identity}")
        with open(private, "w") as made:
            made.write(f"{identity}\n")
        if replaces or worker.chance(0.5):
            if not self.apply(worker, thing, FILE, identity, "rename over", lambda path: os.rename(private, path)):
                os.unlink(private)
        else:
            self.apply(worker, thing, FILE, identity, "link", lambda path: os.link(private, path))
            os.unlink(private)

    def make_symlink(self, worker, thing):
        identity = self.new_identity()
        self.apply(worker, thing, SYMLINK, identity, "symlink", lambda path: os.symlink(str(identity), path))

    def make_directory(self, worker, thing):
        self.apply(worker, thing, DIRECTORY, 0, "mkdir", os.mkdir)

    def move(self, worker, thing, kind, identity):
        target = worker.random.randrange(DIRECTORIES * PER_DIRECTORY)
        if target == thing or not self.states.mutex[target].acquire(block=False):
            return
        try:
            there = self.states.current(target)[0]
            if there == ABSENT or DIRECTORY not in (there, kind):
                self.rename(worker, thing, target, kind, identity)
        finally:
            self.states.mutex[target].release()

    def rename_patiently(self, worker, old, new, kind):
        """A directory that the other mount has moved is still known by its old name to this kernel. A
        lookup moves it (d_splice_alias), but not within a rename: then it gives ESTALE. So look first,
        as mv(1) does; that fails, too, while another rename is under way."""
        for _ in range(RENAME_TRIES):
            try:
                return os.rename(old, new)
            except OSError as error:
                if error.errno != errno.ESTALE or kind != DIRECTORY:
                    raise
                worker.result("ESTALE, again")
            with contextlib.suppress(OSError):
                os.lstat(old)
        os.rename(old, new)

    def rename(self, worker, thing, target, kind, identity):
        states = self.states
        before = [(it, states.before(it, worker.mount)) for it in (thing, target)]
        # The kernel moves the name it knows: an object it has not heard of yet stays unknown to it.
        known = states.knows_current(thing, worker.mount)
        worker.note(f"rename {self.path(thing)} to {self.path(target)}: {KIND_NAMES[kind]} {identity}")
        states.begin(thing, ABSENT, 0)
        states.begin(target, kind, identity)
        if not known:
            states.moved(target, thing, worker.mount)
        try:
            self.rename_patiently(worker, f"{worker.root}/{self.path(thing)}",
                                  f"{worker.root}/{self.path(target)}", kind)
        except OSError as error:
            states.give_up(target)
            states.give_up(thing)
            self.judge(worker, error, "rename", before)
            return
        if os.path.lexists(f"{self.world.server}/{self.path(thing)}"):
            self.rename_of_itself(worker, before)
            return
        states.end(thing, worker.mount)
        states.end(target, worker.mount, known)
        worker.result("done")

    def rename_of_itself(self, worker, before):
        """The kernel does nothing when it takes both names for one object."""
        for thing, _ in reversed(before):
            self.states.give_up(thing)
        possible = [self.states.possible(*pair) for pair in before]
        if None not in possible and not possible[0] & possible[1]:
            raise Violation(f"rename {[self.path(thing) for thing, _ in before]} succeeded without effect, "
                            f"possible {[self.words(states) for states in possible]}")
        worker.result("nothing")

    def finish(self):
        for thing in range(DIRECTORIES * PER_DIRECTORY):
            path = f"{self.world.server}/{self.path(thing)}"
            kind, identity = self.states.current(thing)
            found = (self.by_readlink if os.path.islink(path) else self.by_open)(path)
            if found[0] != (kind,) or found[1] not in (None, identity):
                raise Violation(f"{self.path(thing)} in the end: {found}, expected {KIND_NAMES[kind]} {identity}")
