"""Comparison of whole trees."""
import hashlib, os, stat


def describe(root):
    """Relative path -> all that can be told of it."""
    found = {}
    for folder, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(folder, name)
            its = os.lstat(path)
            content = ""
            if stat.S_ISLNK(its.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(its.st_mode):
                with open(path, "rb") as opened:
                    content = hashlib.sha256(opened.read()).hexdigest()
            size = None if stat.S_ISDIR(its.st_mode) else its.st_size
            found[os.path.relpath(path, root)] = (
                stat.filemode(its.st_mode), its.st_nlink, size, its.st_mtime_ns, its.st_ino, content)
    return found


def differences(one, other):
    return [f"{path}: {one.get(path)} / {other.get(path)}"
            for path in sorted(one.keys() | other.keys()) if one.get(path) != other.get(path)]
