# Shared by the scripts of this folder: those of tests/mount, and the sizes.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../mount/lib.sh"

# scaled USUAL FULL: the second with NFSRDMA_FULL_SIZE.
scaled() { if [ -n "${NFSRDMA_FULL_SIZE:-}" ]; then echo "$2"; else echo "$1"; fi; }
