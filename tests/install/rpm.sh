#!/usr/bin/env bash
# The RPMs: what the install rules say and nothing else is in them, rpmlint finds no fault with it, and rpm installs
# and erases them. The programs are Debian's here: an RPM for a distribution is made on it.
set -euo pipefail
: "${NFSRDMA_BUILD:=$(cd "$(dirname "$0")/../.." && pwd)/build/release}"
fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }
same() { [ "$1" = "$2" ] || fail "$3: '$2' instead of '$1'"; }
for tool in cpack rpmbuild rpmlint; do
  command -v "$tool" >/dev/null || skip "no $tool"
done
work=$(mktemp -d -t nfsrdma-rpm-XXXXXX)
trap 'rm -rf "$work"' EXIT
(cd "$NFSRDMA_BUILD" && cpack -G RPM --config CPackConfig.cmake -B "$work/packages") >"$work/cpack.log" 2>&1 ||
  { cat "$work/cpack.log"; fail "cpack"; }

for component in nfsrdma nfsrdma-lab; do
  package=$(echo "$work"/packages/"$component"-[0-9]*.rpm)
  [ -s "$package" ] || fail "no package $component"
  DESTDIR=$work/$component cmake --install "$NFSRDMA_BUILD" --prefix /usr --component "$component" >/dev/null
  expected=$(cd "$work/$component" && find . ! -type d | sed 's/^\.//' | sort)
  # Folders of our own belong to the package, those of others do not.
  packed=$(rpm -qpl "$package" 2>/dev/null | grep -vE "^/usr/share/(doc/)?$component(/bpftrace)?\$" | sort)
  same "$expected" "$packed" "files of $component"
  same Apache-2.0 "$(rpm -qp --qf '%{LICENSE}' "$package" 2>/dev/null)" "licence"
done
rpm -qp --requires "$work"/packages/nfsrdma-[0-9]*.rpm 2>/dev/null >"$work/requires"
grep -qx fuse3 "$work/requires" || fail "fuse3 is not required"
grep -q '^libfuse3\.so' "$work/requires" || fail "the libraries are not required"

# Not faults: unsigned, without a site of its own; and rpmlint 2.4 looks for pages of another compression in Debian.
rpmlint "$work"/packages/*.rpm >"$work/rpmlint.out" 2>&1 || true
grep -q '^ 2 packages and 0 specfiles checked' "$work/rpmlint.out" || { cat "$work/rpmlint.out"; fail "rpmlint did not check"; }
faults=$(grep -E ': [EW]: ' "$work/rpmlint.out" |
  grep -vE ': (no-signature|no-url-tag|manpage-not-compressed|no-manual-page-for-binary|invalid-license|only-non-binary-in-usr-lib|no-dependency-on)( |$)' || true)
same "" "$faults" "what rpmlint says"

mkdir "$work/root"
rpm --root "$work/root" --initdb
rpm --root "$work/root" -i --nodeps --noscripts "$work"/packages/*.rpm
grep -q '^nfsrdma ' <<<"$("$work/root/usr/bin/nfsrdma" --version)" || fail "the installed program does not run"
same ../bin/nfsrdma "$(readlink "$work/root/usr/sbin/mount.nfsrdma")" "the helper of mount(8)"
rpm --root "$work/root" -e --nodeps --noscripts nfsrdma nfsrdma-lab
same "" "$(cd "$work/root" && find . -name '*nfsrdma*')" "what erasing leaves"
echo "RPMs: made, installed, erased"
