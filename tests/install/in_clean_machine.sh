#!/usr/bin/env bash
# Run in a clean system by clean_machine.sh. `make`: what README.md says, in a clone of the sources in /nfsrdma; `use`: the
# packages in /, as an administrator and as a user would.
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
same() { [ "$1" = "$2" ] || fail "$3: '$2' instead of '$1'"; }
said() { printf '   %s (%d s)\n' "$*" $SECONDS; }
useradd --create-home --shell /bin/bash me
# It reads what was compiled, and has none of it to write.
as_me() { setpriv --reuid me --regid me --init-groups env HOME=/home/me CCACHE_READONLY=1 CCACHE_TEMPDIR=/home/me "$@"; }
# run LOG COMMAND...: shows the log of what fails.
run() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { tail -n 60 "$log"; fail "$*"; }
}

make_packages() {
  cd /nfsrdma
  local line
  while read -r line; do
    [ "$line" = tests/quickstart ] || continue  # tests/run is what continuous integration is
    run /tmp/quickstart bash -c "$line"
    grep -qx '== it works' /tmp/quickstart || fail "quickstart: $(cat /tmp/quickstart)"
    said "$line: works, without /etc/mtab"
  done </two-commands

  while read -r line; do
    run /tmp/install bash -c "$line"
    said "${line%%  *}"
    case $line in
    *"cmake --install"*)
      grep -q '^nfsrdma ' <<<"$(nfsrdma --version)" || fail "the installed program does not run"
      [ -x /sbin/mount.nfsrdma ] || fail "no helper of mount(8)"
      ;;
    *uninstall*) same "" "$(find /usr /lib /etc -name '*nfsrdma*')" "what uninstall leaves" ;;
    *"apt install"*) same "nfsrdma nfsrdma-lab" "$(dpkg-query -W -f '${Package}\n' 'nfsrdma*' | grep -v dbgsym | paste -sd' ')" "packages" ;;
    esac
  done </install
  local package
  for package in nfsrdma nfsrdma-lab; do
    mkdir "/tmp/$package"
    dpkg-deb -x build/install/packages/"$package"_*.deb "/tmp/$package"
    tests/install/depends.sh "$(echo build/install/packages/"$package"_*.deb)" "/tmp/$package"
  done

  # A container's engine makes it; without it fusermount3 does nothing for an ordinary user.
  ln -sf ../proc/self/mounts /etc/mtab
  git clone -q /nfsrdma /home/me/nfsrdma
  chown -R me: /home/me
  cd /home/me/nfsrdma
  run /tmp/quickstart-me as_me tests/quickstart
  grep -qx '== it works' /tmp/quickstart-me || fail "quickstart of a user: $(cat /tmp/quickstart-me)"
  said "tests/quickstart of an ordinary user: works"
}

use_packages() {
  run /tmp/update apt-get update -qq
  run /tmp/install apt install /*.deb
  mkdir /srv/export /mnt/data
  chmod 777 /srv/export
  echo served >/srv/export/file
  nfsrdma-responder --export /srv/export --port 0 >/tmp/out 2>/tmp/err &
  for _ in $(seq 1200); do grep -q '^listening on' /tmp/out && break || sleep 0.05; done
  port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' /tmp/out | head -n 1)
  [ -n "$port" ] || fail "no responder: $(cat /tmp/err)"

  mount -t nfsrdma -o "port=$port" 127.0.0.1:/ /mnt/data
  same served "$(cat /mnt/data/file)" "a file, to root"
  echo written >/mnt/data/new
  umount /mnt/data
  same written "$(cat /srv/export/new)" "what root wrote"
  ln -sf ../proc/self/mounts /etc/mtab
  as_me mkdir /home/me/data
  as_me nfsrdma -o "port=$port" 127.0.0.1:/ /home/me/data
  same served "$(as_me cat /home/me/data/file)" "a file, to a user"
  as_me bash -c 'echo written by me >/home/me/data/mine'
  as_me fusermount3 -u /home/me/data
  for _ in $(seq 1200); do [ -s /srv/export/mine ] && break || sleep 0.05; done
  same "written by me" "$(cat /srv/export/mine)" "what a user wrote"
}

case $1 in
make) make_packages ;;
use) use_packages ;;
esac
