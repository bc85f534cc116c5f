#!/usr/bin/env bash
# The Debian packages as cpack makes them: each depends on every library that its programs name, their version is that of
# the sources, and without what cpack needs it makes none and says what to install.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${NFSRDMA_BUILD:=$here/../../build/release}"
fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }
same() { [ "$1" = "$2" ] || fail "$3: '$2' instead of '$1'"; }
for tool in cpack file dpkg-shlibdeps dpkg-deb readelf; do
  command -v "$tool" >/dev/null || skip "no $tool"
done
work=$(mktemp -d -t nfsrdma-deb-XXXXXX)
trap 'rm -rf "$work"' EXIT
pack() { (cd "$NFSRDMA_BUILD" && cpack --config CPackConfig.cmake -B "$work/packages" "$@") >"$work/log" 2>&1; }

# refused PROGRAM PACKAGE KIND: cpack makes no package of this kind without PROGRAM.
refused() {
  ! pack -G "$3" -D "NFSRDMA_${1//-/_}=" || fail "made a package of kind $3 without $1"
  grep -q "apt-get install $2\$" "$work/log" || fail "without $1: $(cat "$work/log")"
  same "" "$(find "$work" -name '*.deb' -o -name '*.rpm')" "what is made without $1"
}
refused file file DEB
refused dpkg-shlibdeps dpkg-dev DEB
refused rpmbuild rpm RPM

# A fast compression: what is looked at is the same.
pack -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip || { cat "$work/log"; fail "cpack"; }
for component in nfsrdma nfsrdma-lab; do
  package=$(echo "$work"/packages/"$component"_*.deb)
  [ -s "$package" ] || fail "no package $component"
  dpkg-deb -x "$package" "$work/$component"
  "$here/depends.sh" "$package" "$work/$component"
  gzip -dc "$work/$component/usr/share/doc/$component/changelog.gz" >"$work/changelog"
  same "nfsrdma ($(dpkg-deb -f "$package" Version)) unstable; urgency=medium" "$(head -n 1 "$work/changelog")" "the changelog of $component"
done
same tshark "$(dpkg-deb -f "$package" Recommends)" "what nfsrdma-lab recommends"
[[ "$(dpkg-deb -f "$package" Homepage)" == https://* ]] || fail "no homepage"
version=$(dpkg-deb -f "$package" Version)
if git -C "$here" rev-parse HEAD >/dev/null 2>&1; then
  grep -qE "^[0-9.]+\+git[0-9]{14}\.$(git -C "$here" rev-parse --short=12 HEAD)(\.changed)?$" <<<"$version" || fail "the version: $version"
fi
echo "packages of $version: made, with what they depend on"
