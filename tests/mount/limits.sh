#!/usr/bin/env bash
# Many of each: files that are known and forgotten, files that are open, mounts on one machine; what each costs in memory is printed and
# bounded. NFSRDMA_FULL_SIZE: 300,000 files, 100,000 opens, 200 mounts; NFSRDMA_LIMITS="FILES OPENS MOUNTS": so many.
. "$(dirname "$0")/lib.sh"
[ -x "$NFSRDMA_BIN/nfsrdmactl" ] || skip "no $NFSRDMA_BIN/nfsrdmactl"
inodes=20000 opens=20000 mounts=12
if [ -n "${NFSRDMA_FULL_SIZE:-}" ]; then inodes=300000 opens=100000 mounts=200; fi
if [ -n "${NFSRDMA_LIMITS:-}" ]; then read -r inodes opens mounts <<<"$NFSRDMA_LIMITS"; fi
most_for_inode=2048 most_for_open=2048  # bytes
# A sanitizer's memory is its own.
case "$NFSRDMA_BIN" in *asan* | *tsan*) most_for_inode=65536 most_for_open=65536 ;; esac
ctl() { timeout 60 "$NFSRDMA_BIN/nfsrdmactl" "$@"; }
# heap PID: bytes of memory that is the process's own.
heap() { awk '/^Private_Dirty:/ { sum += $2 } END { print sum * 1024 }' "/proc/$1/smaps_rollup"; }

start_responder --lease 300 --connections $((mounts + 1))
mkdir "$export/many" "$export/gone"
python3 -S - "$inodes" "$export/many" "$export/gone" <<'PY'
import os, sys
for top in sys.argv[2:]:
    for folder in range(100):
        os.mkdir(f"{top}/{folder}")
    for number in range(int(sys.argv[1])):
        os.close(os.open(f"{top}/{number % 100}/{number}", os.O_CREAT | os.O_WRONLY, 0o666))
PY
mount_export "actimeo=600,control=$work/own.sock"
pid=${mount_pids[0]}
ls "$mnt" >/dev/null

# Files that are known, and then removed, so that the kernel forgets them: three quarters of their memory are given back.
heap_before=$(heap "$pid")
stat_all() {
  python3 -S - "$1" "$inodes" <<'PY'
import os, sys
for number in range(int(sys.argv[2])):
    os.lstat(f"{sys.argv[1]}/{number % 100}/{number}")
PY
}
known() { ctl counters "$work/own.sock" | sed -n 's/^fs_inodes //p'; }
forgotten() { [ "$(known)" -le $((inodes / 50)) ]; }
given_back() { [ $(($(heap "$pid") - heap_before)) -le $(((heap_known - heap_before) / 4)) ]; }
stat_all "$mnt/gone"
heap_known=$(heap "$pid")
rm -rf "$mnt/gone"
case "$NFSRDMA_BIN" in
  *asan* | *tsan*) ;;  # a sanitizer's memory is its own
  *)
    wait_for "the kernel to forget what was removed" forgotten
    wait_for "three quarters of the memory of removed files" given_back  # a moment later
    ;;
esac

# Files that are known: looked up one by one, and held by the kernel as long as it likes.
before=$(heap "$pid")
stat_all "$mnt/many"
known=$(known)
[ "$known" -ge $((inodes / 2)) ] || fail "only $known files are known"
each=$((($(heap "$pid") - before) / known))
echo "$known files known: $each bytes of memory each"
[ "$each" -le $most_for_inode ] || fail "$each bytes for each file that is known"

# Files that are open: each process opens as many as it may, and all read what they have open.
before=$(heap "$pid")
cat >opens.py <<'PY'
import os, sys
where, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
files = [os.open(f"{where}/{(first + n) % 100}/{(first + n) % 5000}", os.O_RDONLY) for n in range(count)]
if any(os.pread(file, 10, 0) for file in files[:100]):
    sys.exit("bytes in an empty file")
print("open", flush=True)
os.read(0, 1)  # and no byte of the others
PY
limit=$(($(ulimit -Hn) < 20000 ? $(ulimit -Hn) : 20000))
ulimit -Sn "$limit"
apiece=$((limit - 100))
mkfifo held
exec 8<>held
openers=()
for ((first = 0; first < opens; first += apiece)); do
  count=$((opens - first < apiece ? opens - first : apiece))
  python3 -S opens.py "$mnt/many" $first $count <held >"open$first.out" &
  openers+=($!)
  wait_for "$count files" grep -q open "open$first.out"
done
each=$((($(heap "$pid") - before) / opens))
echo "$opens opens: $each bytes of memory each"
[ "$each" -le $most_for_open ] || fail "$each bytes for each open"
for opener in "${openers[@]}"; do echo >&8; done
for opener in "${openers[@]}"; do wait "$opener" || fail "a process with open files"; done
same 0 "$(stat -c %s "$mnt/many/0/0")" "a file after all were closed"

# Mounts.
echo served >"$export/file"
for ((i = 1; i < mounts; ++i)); do mount_export "control=$work/$i.sock" "$work/m$i"; done
memory=0
for ((i = 1; i < mounts; ++i)); do
  same served "$(cat "$work/m$i/file")" "a file on mount $i"
  same "$work/m$i" "$(ctl list "$work/$i.sock" | awk 'NR == 2 { print $5 }')" "mount $i"
  memory=$((memory + $(awk '/^Pss:/ { print $2 }' "/proc/${mount_pids[i]}/smaps_rollup")))
done
echo "$mounts mounts: $((memory / (mounts - 1))) KiB of memory each, shared memory shared out"
