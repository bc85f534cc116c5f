#!/usr/bin/env bash
# The version of the packages grows with each commit, and with changes that are not committed: apt upgrades to it then.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }
command -v dpkg >/dev/null || skip "no dpkg to compare versions"
unset SOURCE_DATE_EPOCH
work=$(mktemp -d -t nfsrdma-version-XXXXXX)
trap 'rm -rf "$work"' EXIT
cat >"$work/tell.cmake" <<END
include("$here/../../cmake/PackageVersion.cmake")
nfsrdma_package_version("$work/sources" 0.1.0 version date)
message("\${version}|\${date}")
END
tell() { cmake -P "$work/tell.cmake" 2>&1; }
version() { tell | cut -d'|' -f1; }
commit() {
  GIT_COMMITTER_DATE=$1 git -C "$work/sources" -c user.name=me -c user.email=me@localhost commit -q --allow-empty --date="2001-01-01T00:00:00Z" -m "$1"
}
# grows OLDER NEWER
grows() { dpkg --compare-versions "$1" lt "$2" || fail "'$2' is not newer than '$1'"; }

# A folder of work/ is in no repository, unless /tmp is.
mkdir "$work/sources"
export GIT_CEILING_DIRECTORIES=$work
[ "$(version)" = 0.1.0 ] || fail "without git: $(version)"

git -C "$work/sources" init -q
echo one >"$work/sources/file"
git -C "$work/sources" add file
commit 2026-03-01T12:00:00+0500
first=$(version)
hash=$(git -C "$work/sources" rev-parse --short=12 HEAD)
[ "$(tell)" = "0.1.0+git20260301070000.$hash|Sun, 01 Mar 2026 07:00:00 +0000" ] || fail "of a commit: $(tell)"
commit 2026-03-01T12:00:01+0500
second=$(version)
grows 0.1.0 "$first"
grows "$first" "$second"
echo two >"$work/sources/file"
changed=$(version)
[[ "$changed" == *."$(git -C "$work/sources" rev-parse --short=12 HEAD)".changed ]] || fail "with changes: $changed"
grows "$second" "$changed"
# From a checkout of another owner, as with sudo.
if [ "$(id -u)" -eq 0 ]; then
  git -C "$work/sources" checkout -q file
  chown -R 65534:65534 "$work/sources"
  [ "$(version)" = "$second" ] || fail "of another's checkout: $(version)"
fi
echo "$first < $second < $changed"
