#!/usr/bin/env bash
# run.sh FILE.nfs: runs the script of one report against a responder of its own, which must survive it, end in order and have
# logged nothing that a sanitizer says.
set -euo pipefail
: "${NFSRDMA_BIN:?}"
work=$(mktemp -d /tmp/nfsrdma-report-XXXXXX)
mkdir "$work/export"
# "# needs: OPTIONS" in the script.
read -ra needs <<<"$(sed -n 's/^# needs: //p' "$1")"
"$NFSRDMA_BIN/nfsrdma-responder" "${needs[@]}" --export "$work/export" --port 0 >"$work/out" 2>"$work/log" &
responder=$!
trap 'kill $responder 2>/dev/null || true; wait $responder 2>/dev/null || true; rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; tail -n 20 "$work/log" >&2; exit 1; }

for _ in $(seq 200); do
  grep -q '^listening on ' "$work/out" && break
  sleep 0.05
done
server=$(sed -n 's/^listening on //p' "$work/out")
[ -n "$server" ] || fail "the responder did not start"
"$NFSRDMA_BIN/nfsrdma-lab" script "$1" "$server" || fail "$1"
kill $responder
status=0
wait $responder || status=$?
[ $status = 0 ] || fail "the responder ended with $status"
! grep -qE 'Sanitizer|runtime error' "$work/log" || fail "a sanitizer has found something"
