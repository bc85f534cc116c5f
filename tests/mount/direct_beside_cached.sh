#!/usr/bin/env bash
# O_DIRECT writes that run side by side (libaio, io_uring, threads) beside cached and mapped readers of the same
# mount: a read never brings what was there before a write that has completed, neither meanwhile nor
# from what stays cached afterwards. NFSRDMA_ROUNDS (150): rounds of each kind; NFSRDMA_WRITERS: which
# kinds; NFSRDMA_PATIENCE (40): seconds for one.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
. "$here/direct_beside_cached_lib.sh"
