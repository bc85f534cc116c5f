#!/usr/bin/env bash
# Two mounts of one export against each other, with random operations and a model of what close-to-open
# permits: two_daemons_model/__main__.py. Environment: NFSRDMA_SECONDS (8), NFSRDMA_SEED;
# NFSRDMA_TWO_DAEMONS: faults (connections break, the server reboots), reorder (the server answers in any order), noac, or plain;
# NFSRDMA_ONLY: some kinds of objects, such as blocks,locked. NFSRDMA_RECORD: a folder where both mounts are recorded; they
# are then repeated by nfsrdma-lab rerun.
. "$(dirname "$0")/lib.sh"
server=()
case ${NFSRDMA_TWO_DAEMONS:-plain} in
  noac) options=noac staleness=0 more=() ;;
  faults) options=acregmin=1,acregmax=2,acdirmin=1,acdirmax=2 staleness=2
    more=(--control "$work/control" --reboots) ;;
  reorder) options=acregmin=1,acregmax=2,acdirmin=1,acdirmax=2 staleness=2 more=()
    server=(--reorder "${NFSRDMA_SEED:-$RANDOM}") ;;
  plain) options=acregmin=1,acregmax=2,acdirmin=1,acdirmax=2 staleness=2 more=() ;;
esac
[ -z "${NFSRDMA_SEED:-}" ] || more+=(--seed "$NFSRDMA_SEED")
start_responder --lease 10 "${server[@]}"
second=$work/second
record=${NFSRDMA_RECORD:+,record=$NFSRDMA_RECORD}
mount_export "$options${record:+$record/first.rec}"
mount_export "$options${record:+$record/second.rec}" "$second"
python3 "$here/two_daemons_model" --seconds "${NFSRDMA_SECONDS:-8}" --staleness "$staleness" \
  ${NFSRDMA_ONLY:+--only "$NFSRDMA_ONLY"} "${more[@]}" "$export" "$mnt" "$second" || fail "see above"
for mount in 0 1; do
  same 0 "$(counter fs_open_files "$mount")" "files that stayed open on mount $mount"
done
[ -n "$record" ] || exit 0
unmount_export
unmount_export "$second"
for each in first second; do
  "$NFSRDMA_BIN/nfsrdma-lab" rerun "$NFSRDMA_RECORD/$each.rec" || fail "the rerun of $each"
done
