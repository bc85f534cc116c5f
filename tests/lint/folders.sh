#!/usr/bin/env bash
# Every folder with code has a README that names its purpose, and every TODO names an issue.
set -euo pipefail
cd "$(dirname "$0")/../.."

status=0
while read -r folder; do
  if [ ! -f "$folder/README.md" ]; then
    echo "$folder has no README.md" >&2
    status=1
  fi
done < <(git ls-files '*.cc' '*.h' | xargs -r -n1 dirname | sort -u)

if grep -rnE --include='*.h' --include='*.cc' --include='*.sh' --include='*.py' \
  '\b(TODO|FIXME|XXX)\b' transport client cache fuse tests | grep -vE '#[0-9]+|tests/lint/'; then
  echo "^ a TODO without an issue number" >&2
  status=1
fi
exit $status
