#!/usr/bin/env bash
# Run in the clean system by packages.sh: install, use, purge.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
fail() { echo "FAILED: $*" >&2; exit 1; }
same() { [ "$1" = "$2" ] || fail "$3: '$2' instead of '$1'"; }

# Everything but what dpkg and apt write about themselves.
tree() { find / -xdev \( -path /proc -o -path /dev -o -path /packages -o -path /tmp -o -path /var/lib/dpkg \
  -o -path /var/lib/apt -o -path /var/log -o -path /var/cache -o -path /run \) -prune -o -print | sort; }
tree >/tmp/before
cp /etc/passwd /etc/group /tmp/
dpkg -i /packages/*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "dpkg -i"; }

mkdir -p /tmp/export /mnt/data
chmod 777 /tmp/export
echo served >/tmp/export/file
nfsrdma-responder --export /tmp/export --port 0 --tcp-port 0 --stats /tmp/stats >/tmp/out 2>/tmp/log &
responder=$!
for _ in $(seq 200); do grep -q '^listening on' /tmp/out && break || sleep 0.05; done
port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' /tmp/out | head -n 1)
[ -n "$port" ] || { cat /tmp/log; fail "no responder"; }

# ended MOUNTPOINT: its program has ended.
ended() { for _ in $(seq 400); do pgrep -f "nfsrdma.* $1\$" >/dev/null || return 0; sleep 0.05; done; fail "$1: the program goes on"; }
# used MOUNTPOINT: it reads and writes, and is unmounted.
used() {
  same served "$(cat "$1/file")" "a file on $1"
  echo "written on $1" >"$1/new"
  umount "$1" 2>/dev/null || fusermount3 -u "$1"
  same "written on $1" "$(cat /tmp/export/new)" "what was written on $1"
  rm -f /tmp/export/new
  ended "$1"
}

mount -t nfsrdma -o "port=$port" 127.0.0.1:/ /mnt/data
used /mnt/data && echo "mount -t nfsrdma: used"
mount -t fuse.nfsrdma -o "port=$port" 127.0.0.1:/ /mnt/data
used /mnt/data && echo "mount -t fuse.nfsrdma: used"
echo "127.0.0.1:/ /mnt/data nfsrdma port=$port,noauto 0 0" >/etc/fstab
mount /mnt/data
used /mnt/data && echo "mount by fstab: used"
: >/etc/fstab
mkdir -p /tmp/user && chown nobody /tmp/user
setpriv --reuid nobody --regid nogroup --clear-groups nfsrdma -o "port=$port" 127.0.0.1:/ /tmp/user
same served "$(setpriv --reuid nobody --regid nogroup --clear-groups cat /tmp/user/file)" "a file of an ordinary user's mount"
[ "$(nfsrdmactl list | awk 'NR == 2 { print $2, $5 }')" = "mounted /tmp/user" ] || fail "nfsrdmactl: $(nfsrdmactl list)"
setpriv --reuid nobody --regid nogroup --clear-groups fusermount3 -u /tmp/user
ended /tmp/user && echo "an ordinary user's mount: used"
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
echo "purged: nothing is left"
