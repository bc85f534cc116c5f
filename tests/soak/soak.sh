#!/usr/bin/env bash
# A mixed load on two mounts of one export, with faults, for NFSRDMA_SOAK_SECONDS (60): see README.md.
. "$(dirname "$0")/../mount/lib.sh"
soak=$here/../soak
for tool in git make cc fio rsync; do
  command -v $tool >/dev/null || skip "no $tool"
done
[ -x "$NFSRDMA_BIN/nfsrdmactl" ] || skip "no $NFSRDMA_BIN/nfsrdmactl"
start_responder --lease 20 --delegations write
mount_export "control=$work/a.sock"
mount_export "control=$work/b.sock" "$work/second"
status=0
python3 "$soak/load.py" --seconds "${NFSRDMA_SOAK_SECONDS:-60}" --report "$work/report" --scratch "$work/scratch" \
  --control "$work/control" --ctl "$NFSRDMA_BIN/nfsrdmactl" --pids "${mount_pids[0]},${mount_pids[1]},$responder_pid" \
  --sockets "$work/a.sock,$work/b.sock" "$mnt" "$work/second" || status=$?
[ ! -f "$work/report" ] || cat "$work/report"
# Lines of warning that the faults do not explain: reconnections and a server that waits are asked for.
for log in mount0.log mount1.log; do
  { grep -E ' [WE] ' "$log" || true; } | sed 's/^[^ ]* //; s/0x[0-9a-f]*/N/g; s/[0-9][0-9.]*/N/g' | sort | uniq -c | sort -rn | sed "s/^/$log: /"
done
[ -z "${NFSRDMA_SOAK_REPORT:-}" ] || [ ! -f "$work/report" ] || cp "$work/report" "$NFSRDMA_SOAK_REPORT"
exit $status
