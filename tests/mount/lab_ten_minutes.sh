#!/usr/bin/env bash
# "Ten minutes" of nfsrdma-lab(1), word for word. The ports are the page's, so it has a network of its own.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "a network of its own takes root"
command -v tshark >/dev/null || skip "no tshark"
mkdir "$work/minutes"
cd "$work/minutes"
PATH=$(cd "$NFSRDMA_BIN" && pwd):$PATH
unshare --net sh -c 'ip link set lo up && exec "$@"' _ python3 -B "$here/lab_ten_minutes.py" "$here/../../man/nfsrdma-lab.1" "TEN MINUTES" ||
  fail "the page is not true"
