#!/usr/bin/env bash
# A name that nobody here has asked for, in a directory that was made or listed here: as soon as another client has made it and
# closed it, it is there for every call, however slow the server is.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
mount_export "" "$work/other"

cat >"$work/names.py" <<'PY'
import os, sys
here, there, label = sys.argv[1:]
missing, tried = [], 0

def attempt(what, call):
    global tried
    tried += 1
    try:
        call()
    except FileNotFoundError:
        missing.append(what)

def uses(directory):
    """Calls that look up a name of its own each, which the other client has made there."""
    return {
        "open": lambda n: open(f"{directory}/{n}").read(),
        "stat": lambda n: os.stat(f"{directory}/{n}"),
        "rename": lambda n: os.rename(f"{directory}/{n}", f"{directory}/{n}.renamed"),
        "link": lambda n: os.link(f"{directory}/{n}", f"{directory}/{n}.link"),
        "unlink": lambda n: os.unlink(f"{directory}/{n}"),
    }

# What a round trip takes is known by then.
for _ in range(100): os.statvfs(here)
for number, use in enumerate(uses("")):
    for kind in "made", "listed", "filled":
        name = f"{label}-{kind}-{number}"
        mine, theirs = f"{here}/{name}", f"{there}/{name}"
        if kind == "listed":
            os.mkdir(theirs)
            os.listdir(mine)
        else:
            os.mkdir(mine)
        if kind == "filled":
            for i in range(3): open(f"{mine}/own{i}", "w").close()
        with open(f"{theirs}/result", "w") as made: made.write("42")
        attempt(f"{use}, {kind}", lambda: uses(mine)[use]("result"))
print(f"{len(missing)} of {tried} missing", *missing, sep="; ")
PY
for delay in 0 10; do
  control clear >/dev/null
  [ $delay = 0 ] || control fault delay=$delay >/dev/null
  same "0 of 15 missing" "$(python3 "$work/names.py" "$mnt" "$work/other" "$delay")" "at $delay ms"
done
