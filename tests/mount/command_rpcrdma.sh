#!/usr/bin/env bash
# rpcrdma=: 2 insists and says why it cannot; auto finds what there is, in one mount command, keeps to
# it over reconnections, and never asks twice; 1 never asks.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
nfsrdma=$NFSRDMA_BIN/nfsrdma

stop_responder() {
  kill "$responder_pid"
  wait "$responder_pid" || fail "the responder failed"
  responder_pid=
  rm "$work/responder.out"
}
value() { sed -n "s/^$1 //p" "$work/responder.stats"; }

for mode in 1 drop ignore; do
  start_responder --rpcrdma $mode
  case $mode in
  1) why="it speaks versions 1 to 1" ;;
  drop) why="the connection is lost at the first message" ;;
  ignore) why="no answer to the first message within 5 s" ;;
  esac
  expect 32 "$why" "$nfsrdma" -o "port=$port,rpcrdma=2" 127.0.0.1:/ "$mnt"
  grep -qF "mount with rpcrdma=1 or rpcrdma=auto" "$work/said.err" || fail "no remedy"

  i=${#mount_points[@]}
  mount_export rpcrdma=auto
  echo "$mode" >"$mnt/$mode"
  same "$mode" "$(cat "$export/$mode")" "what is written"
  same 1 "$(counter rpcrdma_version "$i")" "version against --rpcrdma $mode"
  control disconnect >/dev/null
  echo again >"$mnt/$mode"
  same again "$(cat "$export/$mode")" "what is written after a reconnection"
  same 1 "$(counter rpcrdma_version "$i")" "version after a reconnection"
  unmount_export
  stop_responder
  # One for the mount that failed, for auto one that asks (unless the server answers) and one that
  # works, and one after the disconnection.
  same "$([ $mode = 1 ] && echo 3 || echo 4)" "$(value connections)" "connections with --rpcrdma $mode"
done

start_responder --rpcrdma 2
for choice in 1 2 auto; do
  i=${#mount_points[@]}
  mount_export rpcrdma=$choice
  touch "$mnt/$choice"
  same "${choice/auto/2}" "$(counter rpcrdma_version "$i")" "version with rpcrdma=$choice"
  same "$([ $choice = 1 ] && echo 0 || echo 1)" "$(counter sent_connprop "$i")" "CONNPROP"
  unmount_export
done
