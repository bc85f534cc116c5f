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
groups=()  # control groups
clean_up() {
  local group hierarchies
  for group in "${groups[@]}"; do
    echo $$ >"${group%/*}/cgroup.procs"
    find "$group" -depth -type d -exec rmdir {} +
  done
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
chmod 755 "$work"
(cd "$NFSRDMA_BUILD" && cpack --config CPackConfig.cmake -B "$work/packages") >"$work/cpack.log" 2>&1 ||
  { cat "$work/cpack.log"; fail "cpack"; }
packages=("$work"/packages/nfsrdma_*.deb "$work"/packages/nfsrdma-lab_*.deb)
# ddebs are what Debian makes of symbols by itself.
ls "$work"/packages/nfsrdma-dbgsym_*.ddeb >/dev/null
lintian --allow-root --fail-on error,warning "${packages[@]}" || fail "lintian"

# Stripping leaves the probes for bpftrace.
dpkg-deb -x "${packages[0]}" "$work/unpacked"
notes=$(readelf -n "$work/unpacked/usr/bin/nfsrdma")  # whole: who ends readelf early, has failed here
grep -q 'Name: rpc_stats_latency' <<<"$notes" || fail "the packaged program has no probes"
rm -r "$work/unpacked"

# A clean system, made once: what the packages depend on is installed from Debian in it.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nfsrdma
mkdir -p "$cache"
depends=$(for package in "${packages[@]}"; do dpkg-deb -f "$package" Depends; echo; done |
  tr ',' '\n' | sed 's/^ *//; s/[ (].*//' | grep -v '^$' | sort -u | paste -sd,)
depends=$depends,man-db,mount,passwd,procps,util-linux,systemd,autofs,podman,uidmap
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

# Namespaces and control groups of its own: what is mounted, made or left running there ends with it.
enter_groups() {
  local each kind path group
  mapfile -t hierarchies </proc/self/cgroup  # which changes below
  for each in "${hierarchies[@]}"; do
    IFS=: read -r _ kind path <<<"$each"
    # The hierarchy of version 2 has no name, and lies beside those of version 1 if there are such.
    if [ -z "$kind" ] && [ -d /sys/fs/cgroup/unified ]; then kind=unified; fi
    group=/sys/fs/cgroup/${kind#name=}${path%/}/nfsrdma-install-$$
    mkdir "$group" 2>/dev/null || continue
    # Nothing can enter a group of processors before it has some.
    if [ -f "$group/cpuset.mems" ]; then
      for file in cpus mems; do cat "$group/../cpuset.$file" >"$group/cpuset.$file"; done
    fi
    groups+=("$group")
    echo $$ >"$group/cgroup.procs" || return
  done
  [ ${#groups[@]} -gt 0 ]
}
status=0
if enter_groups; then
  cat >"$work/root/etc/systemd/system/try.service" <<'UNIT'
[Unit]
SuccessAction=exit-force
FailureAction=exit-force
After=multi-user.target autofs.service
Wants=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/bash /packages/in_clean_system.sh
StandardOutput=append:/packages/said
StandardError=inherit
UNIT
  : >"$work/root/etc/machine-id"
  timeout 600 unshare --mount --pid --ipc --uts --cgroup --fork --kill-child \
    bash "$here/boot.sh" "$work/root" try.service || status=$?
  [ -f "$work/root/packages/said" ] || fail "systemd does not boot"
  cat "$work/root/packages/said"
else
  echo "no control groups for systemd: in a chroot"
  unshare --mount --pid --fork --kill-child bash -c '
    set -e
    mount --make-rprivate /
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    exec chroot "$1" /bin/bash /packages/in_clean_system.sh' _ "$work/root" || status=$?
fi
exit $status
