#!/usr/bin/env bash
# P16: 64 threads open and close one file. None gets an error, and none sleeps because of a stateid
# that another one has made old. How long it took is printed, not judged.
. "$(dirname "$0")/lib.sh"
start_responder
echo content >"$export/file"
mount_export
python3 - "$mnt/file" "$(scaled 10000 100000)" <<'PY'
import os, sys, threading, time
name, total = sys.argv[1], int(sys.argv[2])
threads, errors, times = 64, [], []
def work():
    mine = []
    for i in range(total // threads):
        begun = time.monotonic()
        try:
            fd = os.open(name, os.O_RDWR if i % 3 == 0 else os.O_RDONLY)
            if os.read(fd, 7) != b"content":
                errors.append("wrong data")
            os.close(fd)
        except OSError as error:
            errors.append(str(error))
        mine.append(time.monotonic() - begun)
    times.extend(mine)
workers = [threading.Thread(target=work) for _ in range(threads)]
for worker in workers: worker.start()
for worker in workers: worker.join()
times.sort()
pick = lambda share: times[int(len(times) * share) - 1] * 1000
print(f"{len(times)} times: median {pick(0.5):.2f} ms, 99.9 % {pick(0.999):.2f} ms")
if errors:
    sys.exit(f"FAILED: {len(errors)} errors, the first: {errors[0]}")
PY
same 0 "$(counter session_requests_delayed)" "requests that waited"
no_open() { [ "$(counter open_files)" = 0 ] && [ "$(counter fs_open_files)" = 0 ]; }
wait_for "everything to be closed" no_open
