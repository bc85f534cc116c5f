#!/usr/bin/env bash
# The image of Containerfile: built on a clean Debian 12 without an engine's registry, and mounting in a user namespace
# that has /dev/fuse and no right outside of itself, as a rootless container has.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${NFSRDMA_BUILD:=$here/../../build/release}"
fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }
same() { [ "$1" = "$2" ] || fail "$3: '$2' instead of '$1'"; }
[ "$(id -u)" -eq 0 ] || skip "only root can build in a chroot"
[ -c /dev/fuse ] || skip "no /dev/fuse"
for tool in buildah cpack; do command -v "$tool" >/dev/null || skip "no $tool"; done
unshare -Urm true 2>/dev/null || skip "no user namespaces"
base=$(find "${XDG_CACHE_HOME:-$HOME/.cache}/nfsrdma" -name 'chroot-*.tar' 2>/dev/null | head -n 1)
[ -n "$base" ] || skip "no clean Debian: packages.sh makes one"

work=$(mktemp -d -t nfsrdma-image-XXXXXX)
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$work/storage" --runroot "$work/run" "$@"; }
clean_up() {
  [ -z "${responder:-}" ] || kill "$responder" 2>/dev/null || true
  buildah umount --all >/dev/null 2>&1 || true
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
mkdir -p "$work/context/build/install"
(cd "$NFSRDMA_BUILD" && cpack -G DEB --config CPackConfig.cmake -B "$work/context/build/install/packages") >"$work/log" 2>&1 ||
  { cat "$work/log"; fail "cpack"; }
{
  buildah from --name clean scratch
  buildah add --quiet clean "$base" /
  buildah commit --quiet clean localhost/debian
  buildah bud --quiet --build-arg BASE=localhost/debian -t nfsrdma -f "$here/../../Containerfile" "$work/context"
} >"$work/log" 2>&1 || { tail -n 20 "$work/log"; fail "the image"; }
container=$(buildah from localhost/nfsrdma)
grep -q '^nfsrdma ' <<<"$(buildah run "$container" -- nfsrdma --version)" || fail "the program does not run in the image"
same '[nfsrdma -f]' "$(buildah inspect --type image --format '{{.OCIv1.Config.Entrypoint}}' localhost/nfsrdma)" "the entry point"
root=$(buildah mount "$container")

mkdir "$work/export"
echo served >"$work/export/file"
"$NFSRDMA_BUILD/bin/nfsrdma-responder" --export "$work/export" --port 0 --tcp-port 0 >"$work/out" 2>"$work/err" &
responder=$!
for _ in $(seq 400); do grep -q '^listening on' "$work/out" && break || sleep 0.05; done
port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$work/out" | head -n 1)
[ -n "$port" ] || fail "no responder: $(cat "$work/err")"
said=$(timeout 120 unshare --user --map-root-user --mount --pid --fork --kill-child bash -c '
  set -e
  mount --rbind "$1" "$1"
  mount -t proc proc "$1/proc"
  touch "$1/dev/fuse" && mount --bind /dev/fuse "$1/dev/fuse"
  exec chroot "$1" /bin/bash -c "
    nfsrdma -f -o port=$2,control=off 127.0.0.1:/ /mnt >/tmp/log 2>&1 &
    for _ in \$(seq 400); do mountpoint -q /mnt && break || sleep 0.05; done
    cat /mnt/file && echo written >/mnt/new && kill -TERM \$! && wait \$! || { cat /tmp/log; exit 1; }"
' _ "$root" "$port") || fail "in the namespace: $said"
same served "$said" "a file, in a user namespace with the image"
same written "$(cat "$work/export/new")" "what was written there"
echo "the image: built, and mounts without rights outside of its namespace"
