#!/usr/bin/env bash
# groff formats each man page without a warning; a name may be longer than a line.
set -euo pipefail
cd "$(dirname "$0")/../../man"
command -v groff >/dev/null || { echo "SKIP: no groff"; exit 77; }

status=0
for page in *.[1-9]; do
  warnings=$(groff -man -Tutf8 -ww -W break "$page" 2>&1 >/dev/null)
  [ -z "$warnings" ] || { echo "$page: $warnings" >&2; status=1; }
done
exit $status
