#!/usr/bin/env bash
# Four mounts of one server, started in the same moment: four clients, all of them work, none pushes
# another one out; when all are gone the server has nothing of them left.
. "$(dirname "$0")/lib.sh"
start_responder --lease 5
count=4

# All daemons are started before any of them is waited for.
for i in $(seq 0 $((count - 1))); do
  mount_points[i]=$work/mnt$i
  mkdir "${mount_points[i]}"
done
for i in $(seq 0 $((count - 1))); do
  "$NFSRDMA_BIN/nfsrdma" -f -o "proto=$NFSRDMA_PROTO,port=$port,stats=$work/mount$i.stats" \
    127.0.0.1:/ "${mount_points[i]}" >"$work/mount$i.log" 2>&1 &
  mount_pids[i]=$!
done
for i in $(seq 0 $((count - 1))); do
  wait_for "mount $i" mountpoint -q "${mount_points[i]}"
done
same $count "$(server_counter nfs.clients)" "clients"
same $count "$(server_counter nfs.sessions)" "sessions"

for i in $(seq 0 $((count - 1))); do
  (for n in $(seq 50); do echo "$n" >>"${mount_points[i]}/of-$i"; done) &
  writers[i]=$!
done
for i in $(seq 0 $((count - 1))); do
  wait "${writers[i]}" || fail "mount $i does not work"
done
for i in $(seq 0 $((count - 1))); do
  for j in $(seq 0 $((count - 1))); do
    same 50 "$(wc -l <"${mount_points[i]}/of-$j")" "mount $i, file of mount $j"
  done
  same 0 "$(counter session_losses "$i")" "sessions that mount $i has lost"
  same 1 "$(counter recovery_client_ids "$i")" "client ids that mount $i has had"
done
same $count "$(server_counter nfs.clients)" "clients after the work"
for i in $(seq 0 $((count - 1))); do unmount_export "${mount_points[i]}"; done
for table in clients sessions states delegations; do
  same 0 "$(server_counter nfs.$table)" "$table that are left at the server"
done
