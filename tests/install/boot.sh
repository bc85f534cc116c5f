#!/usr/bin/env bash
# boot.sh ROOT UNIT: systemd as the first process of ROOT, until UNIT, a service there, has ended; exits with its status.
# Runs in mount, process, IPC, host name and control group namespaces of its own (packages.sh).
set -euo pipefail
root=$1 unit=$2
mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 dev dev
for device in null zero full random urandom tty fuse autofs net/tun; do
  [ -c "/dev/$device" ] || continue
  mkdir -p "dev/$(dirname "$device")"
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=755 run run
mount -t tmpfs tmp tmp
# As the machine has them; of two kinds at once only the older, as crun wants it.
if [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then
  mount -t cgroup2 cgroup2 sys/fs/cgroup
else
  mount -t tmpfs -o mode=755 cgroup sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
fi
mkdir -p mnt/old
# A user namespace cannot be made in a chroot.
pivot_root . mnt/old
cd /
umount -l /mnt/old
rmdir /mnt/old
export container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec /lib/systemd/systemd --system --log-target=null --show-status=0 "systemd.unit=$unit" </dev/null >/dev/null 2>&1
