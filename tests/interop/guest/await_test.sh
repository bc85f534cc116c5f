#!/usr/bin/env bash
# The guest's answer is understood also when it comes in pieces, each a second after the other, behind one
# that no test waited for.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
guest_alive() { true; }
mkfifo "$work/answers"
exec {guest_answers}<>"$work/answers"
{
  printf 'earlier 1\nasked'
  sleep 1.2  # guest_await reads for a second at a time
  printf 'for 7\n'
} >"$work/answers" &
status=$(guest_await askedfor 20)
wait
[ "$status" = 7 ] || { echo "status $status, not 7" >&2; exit 1; }
