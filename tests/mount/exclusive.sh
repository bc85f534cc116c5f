#!/usr/bin/env bash
# O_EXCL: of eight processes on two mounts exactly one makes each file.
. "$(dirname "$0")/lib.sh"
start_responder ${NFSRDMA_VERIFIER_IN_TIMES:+--verifier-in-times}
mount_export
mount_export "" "$work/mnt2"

python3 - "$mnt" "$work/mnt2" <<'PY'
import os, sys
FILES, PROCESSES = 100, 8
children = []
for p in range(PROCESSES):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        won = []
        for i in range(FILES):
            try:
                fd = os.open(f"{sys.argv[1 + p % 2]}/f{i}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o640)
                os.write(fd, b"%d" % p)
                os.close(fd)
                won.append(i)
            except FileExistsError:
                pass
        os.write(w, " ".join(map(str, won)).encode())
        os._exit(0)
    os.close(w)
    children.append((pid, r))
winners = {}
for p, (pid, r) in enumerate(children):
    text = b""
    while part := os.read(r, 65536):
        text += part
    assert os.waitpid(pid, 0)[1] == 0
    for i in map(int, text.split()):
        assert i not in winners, f"f{i} made twice"
        winners[i] = p
assert len(winners) == FILES
for i, p in winners.items():
    assert open(f"{sys.argv[1]}/f{i}").read() == str(p)
    assert os.stat(f"{sys.argv[2]}/f{i}").st_mode & 0o7777 == 0o640
try:
    os.mkdir(sys.argv[1] + "/f0")
    assert False
except FileExistsError:
    pass
PY
