#!/usr/bin/env bash
# depends.sh PACKAGE FOLDER: fails unless PACKAGE depends on the package of each library that the programs of FOLDER, what is
# in PACKAGE, name. Of the system that it runs on.
set -euo pipefail
package=$1 folder=$2
fail() { echo "FAILED: $*" >&2; exit 1; }
depends=$(dpkg-deb -f "$package" Depends | tr ',|' '\n\n' | sed 's/^ *//; s/[ (].*//' | sort -u)
libraries=$(find "$folder/usr/bin" -type f -exec readelf -dW {} + | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u)
[ "$(wc -l <<<"$libraries")" -ge 3 ] || fail "$package names only these libraries: $libraries"
where=$(find "$folder/usr/bin" -type f -exec ldd {} +)
# The loader knows where a library is; dpkg knows it there, or where it was before / and /usr were merged.
owner() {
  local path
  path=$(awk -v library="$1" '$1 == library && $3 ~ "^/" { print $3; exit }' <<<"$where")
  [ -n "$path" ] || return 0
  { dpkg-query -S "$path" "/usr${path#/usr}" "${path#/usr}" 2>/dev/null || true; } | sed -n '1s/:.*//p'
}
while read -r library; do
  of=$(owner "$library")
  [ -n "$of" ] || fail "no package has $library"
  # A package may go by a name that says more (libspdlog1.10-fmt9).
  names=$(dpkg-query -W -f '${Package}, ${Provides}' "$of" | tr ',' '\n' | sed 's/^ *//; s/[ (].*//')
  grep -qxF "$names" <<<"$depends" || fail "$(basename "$package") names $library and does not depend on $of: $(paste -sd' ' <<<"$depends")"
done <<<"$libraries"
