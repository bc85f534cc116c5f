#!/usr/bin/env bash
# What README.md says, done in a minimal Debian 12 that has nothing of the project: the two commands and "Install", word for word
# from its blocks, by root and by an ordinary user; and the package that was made there, in another such system.
#
# That system is made by mmdebstrap once, is kept in ~/.cache/nfsrdma, and lies under what is done in it. Its packages come from where this machine has its own
# from. The ccache of this machine is used there: what was compiled once is not compiled again.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
started=$SECONDS
fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }
say() { printf '== %s (%d s)\n' "$*" $((SECONDS - started)); }
[ "$(id -u)" -eq 0 ] || skip "only root can enter another system"
[ -c /dev/fuse ] || skip "no /dev/fuse"
for tool in mmdebstrap git; do command -v "$tool" >/dev/null || skip "no $tool"; done
unshare --mount --pid --fork true 2>/dev/null || skip "no mount namespaces"
git -C "$here" rev-parse HEAD >/dev/null 2>&1 || skip "these sources are no clone"

work=$(mktemp -d -t nfsrdma-clean-XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"

# Where this machine gets Debian from, and how; nothing: mmdebstrap knows it.
sources() {
  { apt-get indextargets --format "deb \$(REPO_URI) \$(CODENAME) \$(COMPONENT)" "Created-By: Packages" "Origin: Debian" || true; } \
    2>/dev/null | grep -E '^deb [a-z]+://.* bookworm(-updates|-security)? main$' | sort -u
}
settings() { { apt-config dump || true; } 2>/dev/null | grep -E '^Acquire::(http|https|Check-|Retries|ForceIPv)'; }

cache=${XDG_CACHE_HOME:-$HOME/.cache}/nfsrdma
from=$(sources || true)
grep -q ' bookworm main$' <<<"$from" || from=
base=$cache/clean-$(sha256sum <<<"$from" | cut -c1-16)
if [ ! -d "$base" ]; then
  mkdir -p "$cache"
  made=$(mktemp -d -p "$cache" making-XXXXXX)
  trap 'rm -rf --one-file-system "$work" "$made"' EXIT
  mmdebstrap --quiet --variant=minbase --include=git,ca-certificates --format=directory \
    --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$made/system" ${from:+-} <<<"$from" >"$work/log" 2>&1 ||
    skip "no clean Debian can be made: $(tail -n 1 "$work/log")"
  mv -T "$made/system" "$base" 2>/dev/null || [ -d "$base" ]  # or another run of this script was faster
  say "a clean Debian 12: made"
fi

# system NAME: a clean one; what it has beyond the base is in $work/NAME/upper.
system() {
  local layers=$work/$1 upper=$work/$1/upper
  mkdir -p "$upper/etc/apt/apt.conf.d" "$upper/etc/dpkg/dpkg.cfg.d" "$layers/work" "$layers/root"
  unshare --mount --propagation private mount -t overlay \
    -o "lowerdir=$base,upperdir=$upper,workdir=$layers/work" overlay "$layers/root" 2>/dev/null ||
    { touch "$layers/plain" && cp -a "$base/." "$upper/"; }
  rm -f "$upper/etc/resolv.conf" "$upper/etc/hosts"
  cp -L /etc/resolv.conf /etc/hosts "$upper/etc/"
  {
    settings || true
    # Whoever types these commands says yes.
    echo 'APT::Get::Assume-Yes "true";'
    echo 'APT::Install-Recommends "false";'
    echo 'Acquire::Retries "3";'
  } >"$upper/etc/apt/apt.conf.d/99this-machine"
  echo force-unsafe-io >"$upper/etc/dpkg/dpkg.cfg.d/99this-machine"  # it goes away in minutes: nothing need be on the disk
  cp "$here/in_clean_machine.sh" "$upper/"
  if command -v ccache >/dev/null; then
    mkdir -p "$upper/ccache" "$(ccache -k cache_dir)"
    ccache -k cache_dir >"$layers/ccache"
  fi
}
# enter NAME COMMAND...: in a mount namespace that has nothing of this machine but devices, as the first process; what it
# mounts and leaves running ends with it.
enter() {
  local name=$1
  shift
  timeout -k 10 2400 unshare --mount --pid --fork --kill-child --propagation private \
    bash "$here/enter_system.sh" "$base" "$work/$name" "$@"
}

# The indented lines of a section of README.md.
block() { awk -v section="## $1" '/^## /{ within = ($0 == section) } within && /^    /{ print substr($0, 5) }' "$here/../../README.md"; }
system maker
block "Two commands" | sed 's/   .*//' >"$work/maker/upper/two-commands"
block Install >"$work/maker/upper/install"
grep -qx tests/quickstart "$work/maker/upper/two-commands" || fail "README.md does not name tests/quickstart under \"Two commands\""
for word in install-packages 'cmake --preset' 'cmake --install' uninstall cpack 'apt install'; do
  grep -qF -- "$word" "$work/maker/upper/install" || fail "\"Install\" in README.md has no $word"
done
git clone -q --no-hardlinks "$here/../.." "$work/maker/upper/nfsrdma"

enter maker apt-get update -qq >"$work/log" 2>&1 || skip "Debian's packages cannot be had: $(tail -n 1 "$work/log")"
enter maker bash /in_clean_machine.sh make || fail "what README.md says does not work on a clean machine"
say "README.md: done"

system user
cp "$work"/maker/upper/nfsrdma/build/install/packages/*.deb "$work/user/upper/"
rm -rf --one-file-system "$work/maker"
enter user bash /in_clean_machine.sh use || fail "the package does not work on a clean machine"
say "the package: used"
