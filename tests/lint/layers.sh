#!/usr/bin/env bash
# Data flows one way: fuse -> cache -> client -> transport. An include against the flow fails, and so
# does product code that includes the tests. Within transport: base <- xdr <- rpc, base <- fabric,
# and only rdma stands on both.
set -euo pipefail
cd "$(dirname "$0")/../.."

declare -A forbidden=(
  [transport]='client|cache|fuse|tests'
  [client]='cache|fuse|tests'
  [cache]='fuse|tests'
  [fuse]='tests'
  [transport/base]='transport/(xdr|rpc|rdma|fabric|tcp|capture)'
  [transport/xdr]='transport/(rpc|rdma|fabric|tcp|capture)'
  [transport/rpc]='transport/(rdma|fabric|tcp|capture)'
  [transport/capture]='transport/(xdr|rpc|rdma|fabric|tcp)'
  [transport/fabric]='transport/(xdr|rpc|rdma|tcp)'
)

# Folders of client, the lowest first, as far as their order holds.
ladder=(proto names compound session requests)
above='requests|state|files|recovery|callback|mount'
for ((rung = ${#ladder[@]} - 2; rung >= 0; --rung)); do
  above="$above|${ladder[rung + 1]}"
  forbidden[client/${ladder[rung]}]="client/($above)"
done

status=0
for folder in "${!forbidden[@]}"; do
  if grep -rnE --include='*.h' --include='*.cc' "^#include \"(${forbidden[$folder]})[/.]" "$folder"; then
    echo "^ $folder must not include ${forbidden[$folder]}" >&2
    status=1
  fi
done
exit $status
