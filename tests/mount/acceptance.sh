#!/usr/bin/env bash
# Daily use at full size: a tree of more than 5,000 files and a file of 1 GiB go in, are read back after
# mounting again, and are equal; this project is cloned onto the mount, checked and built there; then
# eight processes do all of it at once on a smaller scale.
# Sizes can be changed: NFSRDMA_TREE, NFSRDMA_BYTES, NFSRDMA_TARGET, NFSRDMA_PROCESSES.
. "$(dirname "$0")/lib.sh"
tree=${NFSRDMA_TREE:-/usr/include}
bytes=${NFSRDMA_BYTES:-1073741824}
target=${NFSRDMA_TARGET:-nfsrdma}
processes=${NFSRDMA_PROCESSES:-8}
small_bytes=$((bytes / 16))
source=${NFSRDMA_SOURCE:-$here/../..}
[ -e "$source/.git" ] || skip "no repository at $source"
export HOME=$work
git config --global --add safe.directory '*'

# clone_and_build DIR TARGET: a clone of this project in DIR, checked and built.
clone_and_build() {
  git clone -q "$source" "$1"
  git -C "$1" fsck --full --strict
  cmake -S "$1" -B "$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
    >"$work/cmake.$(basename "$1").log" 2>&1
  cmake --build "$1/build" --target "$2" -- --quiet
}

start_responder
mount_export
same yes "$([ "$(find "$tree" -type f | wc -l)" -gt 5000 ] && echo yes)" "more than 5,000 files in $tree"
head -c "$bytes" /dev/urandom >"$work/large"
sum=$(sha256sum <"$work/large")

cp -r "$tree" "$mnt/tree"
cp "$work/large" "$mnt/large"
unmount_export
mount_export
mkdir "$work/back"
cp -r "$mnt/tree" "$work/back/tree"
cp "$mnt/large" "$work/back/large"
diff -r --no-dereference "$tree" "$work/back/tree"
same "$sum" "$(sha256sum <"$work/back/large")" "checksum of the large file, copied back"
same "$sum" "$(sha256sum <"$export/large")" "checksum of the large file at the server"
rm -rf "$work/back"

clone_and_build "$mnt/clone" "$target"
[ "$target" != nfsrdma ] || "$mnt/clone/build/bin/nfsrdma" -V

one_of_many() {
  local own=$mnt/many/$1
  mkdir "$own"
  head -c "$small_bytes" "$work/large" >"$own/large"
  cmp -n "$small_bytes" "$work/large" "$own/large"
  cp -r "$source/transport" "$own/tree"
  diff -r "$source/transport" "$own/tree"
  clone_and_build "$own/clone$1" transport_base
}
mkdir "$mnt/many"
pids=()
for i in $(seq "$processes"); do
  one_of_many "$i" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "one of $processes processes failed"; done
