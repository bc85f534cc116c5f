#!/usr/bin/env bash
# The programs are built as distributions build theirs: at any address, symbols bound at the start and read-only
# then, overflows of the stack and of buffers of known size end them, and no stack is executable.
set -euo pipefail
: "${NFSRDMA_BUILD:=$(cd "$(dirname "$0")/../.." && pwd)/build/release}"
fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }
command -v readelf >/dev/null || skip "no readelf"
grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$NFSRDMA_BUILD/CMakeCache.txt" || skip "not the preset release"

# has FILE WHAT PATTERN TEXT
has() { grep -qE -- "$3" <<<"$4" || fail "$1: $2"; }
checked=0
for program in nfsrdma nfsrdmactl nfsrdma-exporter nfsrdma-responder nfsrdma-lab; do
  file=$NFSRDMA_BUILD/bin/$program
  [ -x "$file" ] || continue
  dynamic=$(readelf -dW "$file") segments=$(readelf -lW "$file") symbols=$(readelf --dyn-syms -W "$file")
  has "$program" "not at any address (PIE)" 'FLAGS_1.*\bPIE\b' "$dynamic"
  has "$program" "symbols are bound late (BIND_NOW)" 'FLAGS_1.*\bNOW\b' "$dynamic"
  has "$program" "the table of symbols stays writable (RELRO)" 'GNU_RELRO' "$segments"
  has "$program" "an executable stack" 'GNU_STACK.* RW +0x' "$segments"
  has "$program" "no stack protector" '__stack_chk_fail' "$symbols"
  has "$program" "no FORTIFY_SOURCE" '__[a-z]*(syslog|printf|memcpy|memmove|memset|sprintf|snprintf|read|recv|fprintf|readlink|fdelt|poll)_chk' "$symbols"
  if grep -qE 'R(UN)?PATH' <<<"$dynamic"; then fail "$program: looks for libraries where it was built"; fi
  checked=$((checked + 1))
done
[ $checked -ge 3 ] || fail "only $checked programs are there"
echo "$checked programs"
