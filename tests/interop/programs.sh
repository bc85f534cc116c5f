#!/usr/bin/env bash
# Programs that are hard on a file system, and two mounts against each other: git, fio with its
# checks, O_APPEND, mmap, close-to-open. Usage: programs.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
for program in git fio; do
  command -v $program >/dev/null || skip "no $program: tests/install-packages test"
done
use_knfsd "$1" "$2"
mount_export
mount_export "" "$work/second"

export HOME=$work
git config --global user.email test@localhost
git config --global user.name test
git init -q "$mnt/repository"
cp -r "$interop/../client" "$mnt/repository/tests"  # small: an emulated server takes milliseconds a file
git -C "$mnt/repository" add -A
git -C "$mnt/repository" commit -qm test
git -C "$work/second/repository" fsck --full --strict
same "" "$(git -C "$work/second/repository" status --short)" "what git sees changed through the other mount"
git clone -q "$mnt/repository" "$work/second/clone"
diff -r --exclude=.git "$mnt/repository" "$mnt/clone"

fio --name=verify --directory="$mnt" --size=8M --bsrange=4k-128k --rw=randrw --verify=crc32c \
  --ioengine=psync --numjobs=2 --fallocate=none >"$work/fio.log" 2>&1 || fail "fio"

python3 - "$mnt/mapped" <<'PY'
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 100000)
with mmap.mmap(file, 100000) as view:
    view[50000:50005] = b"hello"
    view.flush()
assert os.pread(file, 5, 50000) == b"hello"
PY
same hello "$(tail -c +50001 "$work/second/mapped" | head -c 5)" "what was mapped, through the other mount"

for i in $(seq 20); do
  echo "here $i" >"$mnt/file"
  same "here $i" "$(cat "$work/second/file")" "close-to-open, one way"
  echo "there $i" >"$work/second/file"
  same "there $i" "$(cat "$mnt/file")" "close-to-open, the other way"
  echo "$i" >>"$mnt/appended"
  echo "$i" >>"$work/second/appended"
done
same 40 "$(wc -l <"$mnt/appended")" "lines appended in turn"
