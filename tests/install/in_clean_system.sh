#!/usr/bin/env bash
# Run in the clean system by packages.sh: install, mount in every way that an administrator or a user has, purge. In the
# booted system, as a service of systemd; in a mere chroot, what there needs no systemd.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
fail() { echo "FAILED: $*" >&2; exit 1; }
same() { [ "$1" = "$2" ] || fail "$3: '$2' instead of '$1'"; }
booted() { [ -d /run/systemd/system ]; }
wait_for() {
  local what=$1
  shift
  for _ in $(seq 1200); do "$@" && return 0 || sleep 0.05; done
  fail "$what does not come"
}

# A user, as any system has one.
useradd --create-home --shell /bin/bash me
as_me() { setpriv --reuid me --regid me --init-groups env HOME=/home/me "$@"; }

# Everything but homes, and what dpkg, apt, systemd and man write about themselves.
tree() { find / -xdev \( -path /home -o -path /proc -o -path /dev -o -path /packages -o -path /tmp -o -path /var/lib/dpkg \
  -o -path /var/lib/apt -o -path /var/lib/systemd -o -path /var/log -o -path /var/cache -o -path /run \) -prune -o -print | sort; }
tree >/tmp/before
cp /etc/passwd /etc/group /tmp/
dpkg -i /packages/*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "dpkg -i"; }

mkdir -p /tmp/export /mnt/data
chmod 777 /tmp/export
echo served >/tmp/export/file
nfsrdma-responder --export /tmp/export --port 0 --tcp-port 0 --stats /tmp/stats >/tmp/out 2>/tmp/log &
responder=$!
wait_for "the responder" grep -q '^listening on' /tmp/out
port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' /tmp/out | head -n 1)

# ended MOUNTPOINT: its program has ended.
ended() { wait_for "the end of the program of $1" none_of "$1"; }
none_of() { ! pgrep -f "nfsrdma.* $1( |\$)" >/dev/null; }
mounted() { grep -q " $1 fuse.nfsrdma " /proc/mounts; }
unmounted() { ! mounted "$1"; }
# read_and_written MOUNTPOINT
read_and_written() {
  same served "$(cat "$1/file")" "a file on $1"
  echo "written on $1" >"$1/new"
  same "written on $1" "$(cat "$1/new")" "what was written"
}
# unmounts MOUNTPOINT COMMAND...: what was written is at the server then.
unmounts() {
  local where=$1
  shift
  "$@" || fail "$*"
  wait_for "the end of the mount on $where" unmounted "$where"
  ended "$where"
  same "written on $where" "$(cat /tmp/export/new)" "what was written on $where"
  rm -f /tmp/export/new
}

mount -t nfsrdma -o "port=$port" 127.0.0.1:/ /mnt/data
read_and_written /mnt/data
unmounts /mnt/data umount /mnt/data
echo "mount -t nfsrdma: used"
mount -t fuse.nfsrdma -o "port=$port" 127.0.0.1:/ /mnt/data
read_and_written /mnt/data
unmounts /mnt/data umount /mnt/data
echo "mount -t fuse.nfsrdma: used"
echo "127.0.0.1:/ /mnt/data nfsrdma port=$port,noauto 0 0" >/etc/fstab
mount /mnt/data
read_and_written /mnt/data
unmounts /mnt/data umount /mnt/data
echo "mount by fstab: used"
: >/etc/fstab

as_me mkdir /home/me/data
as_me nfsrdma -o "port=$port" 127.0.0.1:/ /home/me/data
same served "$(as_me cat /home/me/data/file)" "a file of an ordinary user's mount"
! cat /home/me/data/file 2>/dev/null || fail "root gets into the mount of a user"
[ "$(nfsrdmactl list | awk 'NR == 2 { print $2, $5 }')" = "mounted /home/me/data" ] || fail "nfsrdmactl: $(nfsrdmactl list)"
as_me bash -c 'echo written on /home/me/data >/home/me/data/new'
unmounts /home/me/data as_me fusermount3 -u /home/me/data
echo "an ordinary user's mount: used"

# The ways of systemd.
by_fstab_of_systemd() {
  echo "127.0.0.1:/ /mnt/data nfsrdma port=$port,noauto,_netdev,x-systemd.automount 0 0" >/etc/fstab
  systemctl daemon-reload
  systemctl start mnt-data.automount
  unmounted /mnt/data || fail "mounted before anybody looks"
  read_and_written /mnt/data
  same active "$(systemctl is-active mnt-data.mount)" "mnt-data.mount"
  unmounts /mnt/data systemctl stop mnt-data.automount mnt-data.mount
  : >/etc/fstab
  systemctl daemon-reload
  echo "x-systemd.automount of fstab: used"
}
by_unit() {
  mkdir /etc/nfsrdma
  printf '%s\n' SOURCE=127.0.0.1:/ MOUNTPOINT=/mnt/data "OPTIONS=port=$port" >/etc/nfsrdma/data.conf
  # The end of start is the mount: nothing is waited for.
  systemctl start nfsrdma@data
  read_and_written /mnt/data
  same "127.0.0.1:/ is mounted on /mnt/data" "$(systemctl show -P StatusText nfsrdma@data)" "the unit's status"
  same "2 1" "$(sed -n "s,^\(Seccomp\|NoNewPrivs\):[[:space:]]*,,p" "/proc/$(systemctl show -P MainPID nfsrdma@data)/status" | sort -r | paste -sd" ")" "its filter of system calls, and new privileges"
  # A program that was killed is started again, in spite of the dead mount.
  kill -KILL "$(systemctl show -P MainPID nfsrdma@data)"
  wait_for "the mount anew" mounted_by_another
  read_and_written /mnt/data
  unmounts /mnt/data systemctl stop nfsrdma@data
  same inactive "$(systemctl is-active nfsrdma@data || true)" "the unit"
  rm -r /etc/nfsrdma
  echo "the unit nfsrdma@data: used"
}
# exporter_sees MOUNTPOINT: its unit serves a mount whose socket lies in a user's runtime directory.
exporter_sees() {
  systemctl start nfsrdma-exporter
  wait_for "the exporter" metrics_are_served
  grep -q "^nfsrdma_mount_info{mount_point=\"$1\"" /tmp/metrics || fail "the exporter's unit does not see $1: $(cat /tmp/metrics)"
  systemctl stop nfsrdma-exporter
  echo "the unit nfsrdma-exporter: used"
}
metrics_are_served() {
  { exec 9<>/dev/tcp/127.0.0.1/9916; } 2>/dev/null || return 1
  printf 'GET /metrics HTTP/1.0\r\n\r\n' >&9
  cat <&9 >/tmp/metrics
  exec 9>&-
  grep -q '^# EOF' /tmp/metrics
}
mounted_by_another() { [ "$(systemctl show -P NRestarts nfsrdma@data) $(systemctl is-active nfsrdma@data)" = "1 active" ]; }
by_unit_of_user() {
  as_me mkdir -p /home/me/.config/nfsrdma
  printf '%s\n' SOURCE=127.0.0.1:/ MOUNTPOINT=/home/me/data "OPTIONS=port=$port" >/home/me/.config/nfsrdma/data.conf
  local manager=/run/user/$(id -u me)
  mkdir -p "$manager"
  chown me: "$manager"
  # As user@.service, which wants logind.
  systemd-run --quiet --unit=manager --uid=me --property=Delegate=yes --property=Type=notify \
    --setenv=XDG_RUNTIME_DIR="$manager" --setenv=HOME=/home/me /lib/systemd/systemd --user
  as_user_manager() { as_me env XDG_RUNTIME_DIR="$manager" systemctl --user "$@"; }
  as_user_manager start nfsrdma@data
  as_me bash -c 'echo written on /home/me/data >/home/me/data/new'
  exporter_sees /home/me/data
  unmounts /home/me/data as_user_manager stop nfsrdma@data
  systemctl stop manager
  echo "a user's unit nfsrdma@data: used"
}
by_autofs() {
  echo "/auto /etc/auto.nfsrdma --timeout=1" >/etc/auto.master.d/nfsrdma.autofs
  echo "data -fstype=nfsrdma,port=$port 127.0.0.1:/" >/etc/auto.nfsrdma
  systemctl restart autofs
  unmounted /auto/data || fail "mounted before anybody looks"
  read_and_written /auto/data
  unmounts /auto/data true  # by autofs, when it was not used for a while
  rm /etc/auto.master.d/nfsrdma.autofs /etc/auto.nfsrdma
  systemctl restart autofs
  rmdir /auto 2>/dev/null || true
  echo "autofs: used"
}
# What a container has of its own is mounted over folders of its image, which is this system without what is mounted on it.
by_podman() {
  mkdir /srv/image
  mount --bind / /srv/image
  mkdir -p /srv/image/run
  touch /srv/image/run/.containerenv /srv/image/etc/{hosts,resolv.conf,hostname}
  mount --make-rshared /
  engine() { as_me env XDG_RUNTIME_DIR=/tmp/engine podman --cgroup-manager=cgroupfs --storage-driver=vfs "$@"; }
  as_me mkdir /tmp/engine
  local container
  container=$(engine run --detach --network=host --cgroups=disabled --device /dev/fuse --cap-add SYS_ADMIN \
    --rootfs /srv/image nfsrdma -f -o "port=$port,control=off" 127.0.0.1:/ /mnt/data 2>/tmp/engine.log) || fail "$(cat /tmp/engine.log)"
  in_container() { engine exec "$container" "$@" 2>/tmp/engine.log; }
  stop_container() { engine stop --time 60 "$container" >/dev/null; }
  wait_for "the mount in the container" in_container grep -q ' /mnt/data fuse.nfsrdma ' /proc/mounts
  same served "$(in_container cat /mnt/data/file)" "a file in the container: $(cat /tmp/engine.log)"
  in_container sh -c 'echo written on /mnt/data >/mnt/data/new' || fail "$(cat /tmp/engine.log)"
  unmounted /mnt/data || fail "the mount is seen outside of the container"
  unmounts /mnt/data stop_container
  same 0 "$(engine inspect --format '{{.State.ExitCode}}' "$container")" "how the program ended in the container"
  engine rm "$container" >/dev/null
  engine system migrate >/dev/null 2>&1  # ends the process that keeps the user namespace
  umount /srv/image
  rmdir /srv/image
  echo "a rootless container of podman: used"
}

if booted; then
  by_fstab_of_systemd
  by_unit
  by_unit_of_user
  by_autofs
  by_podman
fi

for page in nfsrdma nfsrdmactl mount.nfsrdma nfsrdma-responder nfsrdma-lab; do
  man -w "$page" >/dev/null || fail "no page $page"
done
[ -r /usr/share/bash-completion/completions/nfsrdma ] || fail "no completion"
kill $responder
wait $responder || true

apt-get purge -y nfsrdma nfsrdma-lab >/tmp/purge.log 2>&1 || { cat /tmp/purge.log; fail "purge"; }
rmdir /mnt/data
tree >/tmp/after
left=$(diff /tmp/before /tmp/after || true)
same "" "$left" "what purge leaves"
cmp /etc/passwd /tmp/passwd && cmp /etc/group /tmp/group || fail "purge leaves users"
! pgrep -l nfsrdma || fail "purge leaves programs that run"
echo "purged: nothing is left"
