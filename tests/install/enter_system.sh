#!/usr/bin/env bash
# enter_system.sh BASE LAYERS COMMAND...: COMMAND in the system of folder BASE with what LAYERS/upper has beyond it, or in that of
# LAYERS/upper alone (LAYERS/plain is there). It has this machine's devices and network, and its ccache, if
# LAYERS/ccache names one. In mount and process namespaces of its own (clean_machine.sh).
set -euo pipefail
base=$1 layers=$2
shift 2
ccache=$(cat "$layers/ccache" 2>/dev/null || true)
# Copies of mounts of other tests would keep those from ending: all of this machine's mounts go, those first.
while read -r at; do umount -l "$at"; done < <(findmnt -rno TARGET -t fuse.nfsrdma || true)
if [ -e "$layers/plain" ]; then
  mount --bind "$layers/upper" "$layers/root"
else
  mount -t overlay -o "lowerdir=$base,upperdir=$layers/upper,workdir=$layers/work" overlay "$layers/root"
fi
cd "$layers/root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 dev dev
for device in null zero full random urandom tty fuse; do
  [ -c "/dev/$device" ] || continue
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=755 run run
if [ -n "$ccache" ]; then mount --bind "$ccache" ccache; fi
mkdir -p old
pivot_root . old
umount -l /old
rmdir /old
environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C TERM=dumb)
for name in http_proxy https_proxy no_proxy; do
  if [ -n "${!name:-}" ]; then environment+=("$name=${!name}"); fi
done
if [ -n "$ccache" ]; then environment+=(CCACHE_DIR=/ccache); fi
exec env -i "${environment[@]}" "$@" </dev/null
