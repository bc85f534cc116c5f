#!/usr/bin/env bash
# Defects that this program once had, put in again: rerun finds each in the recording of a mount that did well, and shrink
# leaves fewer than twenty of its requests.
set -euo pipefail
: "${NFSRDMA_BIN:=$(dirname "$0")/../../../build/release/bin}"
lab=$NFSRDMA_BIN/nfsrdma-lab
broken=$NFSRDMA_BIN/nfsrdma-lab-broken
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAIL: $*" >&2
  exit 1
}

"$NFSRDMA_BIN/lab_make_recordings" . workload
"$lab" rerun workload >said || fail "the recording by itself: $(cat said)"
"$lab" rerun workload --list-requests >all
all=$(wc -l <all)
[ "$all" -gt 200 ] || fail "there are only $all requests"

# found BREAK: it is found, and shrunk to $work/least.
found() {
  local status=0
  NFSRDMA_BREAK=$1 "$broken" rerun workload >said 2>&1 || status=$?
  [ $status = 1 ] && grep -q 'is another:$' said || fail "$1 is not found: $(cat said)"
  NFSRDMA_BREAK=$1 "$broken" shrink workload --good "env -u NFSRDMA_BREAK $lab" --out least >said 2>&1 ||
    fail "shrink of $1: $(cat said)"
  local left
  left=$(wc -l <least)
  echo "$1: $left of $all requests"
  cat least said
  [ "$left" -lt 20 ] || fail "$1: $left requests are left"
}

found cache/read/read:read-dirty
found cache/read/read:read-order
found cache/name/silly_names:linked
