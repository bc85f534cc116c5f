#!/usr/bin/env bash
# fio writes with each of its engines, buffered, with O_DIRECT, and both at once in two halves of one file; verifies what it
# wrote, and once more through another mount. NFSRDMA_FULL_SIZE: for larger files.
. "$(dirname "$0")/lib.sh"
command -v fio >/dev/null || skip "no fio"
start_responder
mount_export
other=$work/other
mount_export "" "$other"
size=2m
[ -z "${NFSRDMA_FULL_SIZE:-}" ] || size=128m

# job NAME FILE OPTION...: one section of a job file. Block sizes differ, and are no pages where that may be.
job() {
  local name=$1 file=$2
  shift 2
  printf '[%s]\nfilename=%s\n' "$name" "$file"
  printf '%s\n' "$@"
}

# jobs ENGINE: the sections of an engine, on files of its own.
jobs() {
  local engine=$1
  job buffered "$engine-buffered" rw=randrw bs=5000 size=$size
  job appended "$engine-appended" rw=write bs=64k size=$size
  [ "$engine" != mmap ] || return 0
  job direct "$engine-direct" rw=randrw bs=16k direct=1 size=$size
  job direct_half "$engine-mixed" rw=randwrite bs=16k direct=1 size=$size
  job buffered_half "$engine-mixed" rw=randwrite bs=4k offset=$size size=$size
}

# verify ENGINE FOLDER OPTION...: whether fio finds what it wrote.
verify() {
  local engine=$1 folder=$2
  shift 2
  fio --output="$work/fio.out" --directory="$folder" --ioengine="$engine" --iodepth=16 --verify=crc32c --verify_fatal=1 \
    --fsync_on_close=1 --fallocate=none --randseed=7 "$@" "$work/$engine.jobs" || { cat "$work/fio.out" >&2; return 1; }
}

for engine in psync libaio io_uring mmap; do
  jobs $engine >"$work/$engine.jobs"
  if [ $engine = io_uring ] && ! fio --name=probe --ioengine=io_uring --directory="$work" --size=4k --rw=write \
    >"$work/fio.out" 2>&1; then
    echo "io_uring is not to be had here"
    continue
  fi
  verify $engine "$mnt" || fail "$engine"
  grep -q "err= 0" "$work/fio.out" || fail "$engine reports no end without errors"
  # The other mount has to see all of it: its opens come behind the closes.
  verify $engine "$other" --verify_only || fail "$engine, by another mount"
done
for file in "$export"/*; do cmp "$file" "$mnt/$(basename "$file")"; done
