#!/usr/bin/env bash
# The command line of nfsrdma-lab: help, and exit status 2 for what it does not know.
set -euo pipefail
lab=${NFSRDMA_BIN:?}/nfsrdma-lab

fail() { echo "FAIL: $*" >&2; exit 1; }

grep -q '^usage: nfsrdma-lab' <<<"$("$lab" --help)" || fail "no help"
status=0; "$lab" >/dev/null 2>&1 || status=$?
[ "$status" = 2 ] || fail "without a subcommand it ends with $status"
status=0; said=$("$lab" nonsense 2>&1) || status=$?
[ "$status" = 2 ] || fail "an unknown subcommand ends with $status"
grep -q 'there is no subcommand nonsense' <<<"$said" || fail "it says: $said"
for words in "script /nothing" "diff /nothing 127.0.0.1 127.0.0.1" "shrink /nothing 127.0.0.1"; do
  # shellcheck disable=SC2086
  status=0; said=$("$lab" $words 2>&1) || status=$?
  [ "$status" = 3 ] || fail "$words ends with $status"
  grep -q 'No such file or directory (/nothing)' <<<"$said" || fail "$words says: $said"
done
