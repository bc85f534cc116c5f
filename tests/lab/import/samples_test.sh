#!/usr/bin/env bash
# nfsrdma-lab import: each sample becomes a script, which runs against a responder without a failed expectation, with chunks
# cut as in the sample; what is no trace is refused.
set -euo pipefail
: "${NFSRDMA_BIN:?}"
here=$(cd "$(dirname "$0")" && pwd)
lab=$NFSRDMA_BIN/nfsrdma-lab
fail() { echo "FAILED: $*" >&2; exit 1; }
work=$(mktemp -d /tmp/nfsrdma-import-XXXXXX)
trap 'rm -rf "$work"' EXIT

for sample in rpcrdma nfs4 mountstats; do
  "$lab" import "$here/samples/$sample.txt" --output "$work/$sample.nfs" 2>"$work/said" || fail "$sample: $(cat "$work/said")"
  "$here/../reports/run.sh" "$work/$sample.nfs"
done
grep -q '^# 7 calls of a trace with 36 events$' "$work/rpcrdma.nfs" || fail "the script begins with $(head -n 1 "$work/rpcrdma.nfs")"
"$lab" import "$here/samples/mountstats.txt" --mount /mnt --count 20 | grep -c '^  compound' | grep -qx 20 || fail "--count"

refused() {
  local status=0
  "$lab" import "$@" >"$work/out" 2>"$work/said" || status=$?
  [ $status = 3 ] || fail "$*: exit status $status"
}
refused "$here/samples_test.sh"
refused "$work/none"
refused "$here/samples/mountstats.txt" --mount /other
