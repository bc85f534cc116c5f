"""A copy of the source with all breaks put in, and its build."""
import pathlib
import re
import subprocess

import breaks as data

FOLDER = data.ROOT / "build" / "mutation"
SOURCE = FOLDER / "source"
BUILD = FOLDER / "build"


def write(path, content):
    """Writes what has changed only: the build looks at times."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def make(breaks):
    """Makes the copy, or brings it up to date."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=data.ROOT,
                            check=True, capture_output=True, text=True).stdout.split("\n")
    names = {name for name in listed if name and (data.ROOT / name).is_file()}
    per_file = {}
    for one in breaks:
        per_file.setdefault(one.file, []).append(one)
    for name in sorted(names):
        content = (data.ROOT / name).read_bytes()
        if name in per_file:
            content = data.rewrite(per_file[name], content.decode()).encode()
        write(SOURCE / name, content)
        (SOURCE / name).chmod((data.ROOT / name).stat().st_mode & 0o777)
    for path in list(SOURCE.rglob("*")):
        if path.is_file() and str(path.relative_to(SOURCE)) not in names:
            path.unlink()


def blame(output, breaks):
    """The breaks that the compiler's errors name, by their lines in the rewritten files."""
    found = {}
    for match in re.finditer(r"^(\S+?):(\d+):\d+: error: (.*)$", output, re.M):
        for one in breaks:
            if match[1].endswith(one.file) and one.lines[0] <= int(match[2]) <= one.lines[1]:
                found.setdefault(one.name, match[3])
    return found


def build(programs, breaks, jobs):
    """Builds the programs once; returns whether all could be built."""
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "-S", SOURCE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_UNITY_BUILD=ON"], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", BUILD, "-k", "0", f"-j{jobs}", *programs],
                          capture_output=True, text=True)
    (FOLDER / "build.log").write_text(done.stdout + done.stderr)
    if done.returncode == 0:
        return True
    for name, error in blame(done.stdout, breaks).items():
        print(f"does not compile: {name}: {error}")
    print(f"the build failed: {FOLDER / 'build.log'}")
    return False
