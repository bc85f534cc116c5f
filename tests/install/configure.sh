#!/usr/bin/env bash
# Configuring needs the packages of what is built. The preset `install` asks for none of the tests; with the preset `release`
# a test whose package is missing is left out by name, and that is an error where the packages are installed before.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "FAILED: $*" >&2; exit 1; }
same() { [ "$1" = "$2" ] || fail "$3: '$2' instead of '$1'"; }
work=$(mktemp -d -t nfsrdma-configure-XXXXXX)
trap 'rm -rf "$work"' EXIT

# What a machine lacks that has only the groups build and run: cmake looks for none of it then.
hidden=(-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON -DNFSRDMA_AIO= -DNFSRDMA_RPCGEN=)
# configure PRESET OPTION...
configure() {
  local preset=$1
  shift
  cmake -S "$here/../.." --preset "$preset" -B "$work/$preset" "${hidden[@]}" "$@" >"$work/log" 2>&1
}

configure install || { cat "$work/log"; fail "the preset install cannot be configured"; }
! grep 'is missing' "$work/log" || fail "the preset install looks for packages of tests"
targets=$(cmake --build "$work/install" --target help)
for program in nfsrdma nfsrdmactl nfsrdma-responder nfsrdma-lab; do
  grep -q "^$program: phony" <<<"$targets" || fail "the preset install does not build $program"
done
same "" "$(grep -oE '^[^ ]*(_test|fuzz|bench)[^ ]*: (phony|.*LINKER)' <<<"$targets" || true)" "programs of tests in the preset install"

configure release -DNFSRDMA_TESTS_REQUIRED=OFF || { cat "$work/log"; fail "the preset release cannot be configured"; }
said=$(sed -n 's/^-- \(.*\): not built, \(.*\) is missing$/\2: \1/p' "$work/log" | sed 's/ (.*//' | sort)
same "libaio-dev: tests/mount/direct_beside_cached libgtest-dev: GoogleTest programs python3: tests/lab/defects" \
  "$(paste -sd' ' <<<"$said")" "what is left out"

! configure release -DNFSRDMA_TESTS_REQUIRED=ON || fail "a missing package is no error where all are required"
grep -q 'tests/mount/direct_beside_cached: not built, libaio-dev is' "$work/log" || fail "the error does not name the package: $(cat "$work/log")"
echo "configured with what is built only"
