#!/usr/bin/env bash
# tests/quickstart tells how far its build is, at a terminal and into a log, and shows what goes wrong in it. Of the build only
# ninja is the real one: forty steps that take no time, and one that fails.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() { echo "FAILED: $*" >&2; exit 1; }
work=$(mktemp -d -t nfsrdma-install-XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
cat >"$work/bin/cmake" <<END
#!/bin/sh
[ "\$1" != --build ] || exec ninja -C "$work" \$(echo "\$@" | grep -o -- --quiet)
END
chmod 755 "$work/bin/cmake"
{
  printf 'rule step\n  command = true\n  description = step $out\n'
  printf 'rule wrong\n  command = echo an error of the compiler; false\n'
  for step in $(seq 40); do echo "build $step: step"; done
  echo "build program: wrong $(seq -s ' ' 40)"
} >"$work/build.ninja"
export PATH=$work/bin:$PATH TERM=xterm

! "$here/../quickstart" >"$work/log" 2>&1 || fail "a build that failed is not an error"
[ "$(grep '^built ' "$work/log" | paste -sd' ')" = "$(seq -f 'built %.0f%%' -s' ' 10 10 100)" ] ||
  fail "no line each tenth of the way: $(cat "$work/log")"
grep -q '^an error of the compiler$' "$work/log" || fail "the error is not shown: $(cat "$work/log")"
! grep -q 'step 1' "$work/log" || fail "a line for each step: $(cat "$work/log")"

! script -qec "'$here/../quickstart'" "$work/terminal" >"$work/log" </dev/null || fail "a build that failed is not an error at a terminal"
grep -q '\[40/41\] step ' "$work/terminal" || fail "no progress at a terminal: $(cat "$work/terminal")"
grep -q 'an error of the compiler' "$work/terminal" || fail "the error is not shown: $(cat "$work/terminal")"
