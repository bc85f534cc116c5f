#!/usr/bin/env bash
# Thousands of files open at once; and a server that can have no more open says so, to programs as an error and not by
# letting them wait, and serves again when files are closed.
. "$(dirname "$0")/lib.sh"
cat >"$work/opens.py" <<'P'
import errno, os, resource, sys
where, wanted = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
def name(number): return f"{where}/{number % 100}/{number}"
for number in range(100): os.makedirs(f"{where}/{number}", exist_ok=True)
opened, error = [], None
while len(opened) < wanted and not error:
    try: opened.append(os.open(name(len(opened)), os.O_CREAT | os.O_RDWR, 0o666))
    except OSError as failure: error = errno.errorcode[failure.errno]
for number, file in enumerate(opened): os.pwrite(file, b"%d" % number, 0)
for number, file in enumerate(opened):
    if os.pread(file, 100, 0) != b"%d" % number: sys.exit(f"file {number}")
if error:
    if os.path.exists(name(len(opened))): sys.exit("what could not be opened was made")
    os.listdir(where + "/0")
    for file in opened[:10]: os.close(file)
    os.close(os.open(name(len(opened)), os.O_CREAT | os.O_RDWR, 0o666))
print(len(opened), error)
P
# opens WANTED: opens as many files, or until it fails; the time is for sanitizers.
opens() { timeout 450 python3 "$work/opens.py" "$mnt" "$1"; }

# The limit of this shell, and so of the responder. Only root can raise it beyond the hard one.
wanted=20000
if ! ulimit -n 60000 2>/dev/null; then
  hard=$(ulimit -Hn)
  wanted=$((hard / 3))
fi
start_responder
mount_export
same "$wanted None" "$(opens "$wanted")" "files open at once"
unmount_export
kill "$responder_pid"
wait "$responder_pid" || fail "the responder"
rm -rf "${export:?}"/*

# As many as 400 descriptors allow.
mkdir "$work/limited"
printf '#!/bin/sh\nulimit -n 400\nexec "%s/nfsrdma-responder" "$@"\n' "$NFSRDMA_BIN" >"$work/limited/nfsrdma-responder"
chmod +x "$work/limited/nfsrdma-responder"
NFSRDMA_BIN=$work/limited start_responder
mount_export
read -r opened error <<<"$(opens 400)" || fail "at the limit"
case $error in EIO | EREMOTEIO) ;; *) fail "error at the limit: '$error'" ;; esac
[ "$opened" -gt 100 ] || fail "only $opened files with 400 descriptors"
grep -q 'out of file descriptors' "$work/responder.log" || fail "the responder's log does not say what is wrong"
