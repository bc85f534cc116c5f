# Shared by the scripts of this folder: those of tests/mount, and the responder's counters.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../mount/lib.sh"

# server_counter NAME: of the responder, as of now; one that it does not have is 0.
server_counter() {
  local value
  value=$("$here/../fault/control.py" "$work/control" stats | sed -n "s/^$1 //p")
  echo "${value:-0}"
}

# requests OPERATION: how many calls with it the responder has got.
requests() { server_counter "op_$1"; }

# scaled USUAL FULL: the second with NFSRDMA_FULL_SIZE.
scaled() { if [ -n "${NFSRDMA_FULL_SIZE:-}" ]; then echo "$2"; else echo "$1"; fi; }
