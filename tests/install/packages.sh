#!/usr/bin/env bash
# The Debian packages: clean to lintian; installed in a clean Debian 12, used there as an administrator
# and as an ordinary user would, and purged, after which nothing is left.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${NFSRDMA_BUILD:=$here/../../build/release}"
fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root can enter a chroot"
[ -c /dev/fuse ] || skip "no /dev/fuse"
for tool in cpack lintian mmdebstrap readelf; do
  command -v "$tool" >/dev/null || skip "no $tool"
done

work=$(mktemp -d -t nfsrdma-packages-XXXXXX)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
(cd "$NFSRDMA_BUILD" && cpack --config CPackConfig.cmake -B "$work/packages") >"$work/cpack.log" 2>&1 ||
  { cat "$work/cpack.log"; fail "cpack"; }
packages=("$work"/packages/nfsrdma_*.deb "$work"/packages/nfsrdma-lab_*.deb)
# ddebs are what Debian makes of symbols by itself.
ls "$work"/packages/nfsrdma-dbgsym_*.ddeb >/dev/null
lintian --allow-root --fail-on error,warning "${packages[@]}" || fail "lintian"

# Stripping leaves the probes for bpftrace.
dpkg-deb -x "${packages[0]}" "$work/unpacked"
readelf -n "$work/unpacked/usr/bin/nfsrdma" | grep -q 'Name: rpc_stats_latency' || fail "the packaged program has no probes"
rm -r "$work/unpacked"

# A clean system, made once: what the packages depend on is installed from Debian in it.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nfsrdma
mkdir -p "$cache"
depends=$(for package in "${packages[@]}"; do dpkg-deb -f "$package" Depends; echo; done |
  tr ',' '\n' | sed 's/^ *//; s/[ (].*//' | grep -v '^$' | sort -u | paste -sd,)
depends=$depends,man-db,mount,procps,util-linux
name=chroot-$(printf '%s' "$depends" | sha256sum | cut -c1-16).tar
if [ ! -s "$cache/$name" ]; then
  mmdebstrap --quiet --variant=apt --include="$depends" \
    --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$work/$name" >"$work/mmdebstrap.log" 2>&1 ||
    skip "no clean Debian: $(tail -n 1 "$work/mmdebstrap.log")"
  mv "$work/$name" "$cache/$name"
fi
mkdir "$work/root"
tar -C "$work/root" -xf "$cache/$name" --exclude='./dev/*'
ln -sf ../proc/self/mounts "$work/root/etc/mtab"  # fusermount3 reads it; a booted system has it
mkdir "$work/root/packages"
cp "${packages[@]}" "$here/in_clean_system.sh" "$work/root/packages/"

# Namespaces of its own: what is mounted or left running there ends with it.
unshare --mount --pid --fork --kill-child bash -c '
  set -e
  mount --make-rprivate /
  mount -t proc proc "$1/proc"
  mount --rbind /dev "$1/dev"
  exec chroot "$1" /bin/bash /packages/in_clean_system.sh' _ "$work/root"
