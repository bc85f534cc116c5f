#!/usr/bin/env bash
# Data flows one way: fuse -> cache -> client -> transport. An include against the flow fails, and so
# does product code that includes the tests. Within a house each folder may include itself and what its
# line names, and the lines above it are all it can name: no two folders include each other. fuse reaches
# client through cache. libfuse is a matter of fuse/channel.
set -euo pipefail
cd "$(dirname "$0")/../.."

declare -A forbidden=(
  [transport]='client|cache|fuse|tests'
  [client]='cache|fuse|tests'
  [cache]='fuse|tests'
  [fuse]='tests'
)

status=0
for folder in "${!forbidden[@]}"; do
  if grep -rnE --include='*.h' --include='*.cc' "^#include \"(${forbidden[$folder]})[/.]" "$folder"; then
    echo "^ $folder must not include ${forbidden[$folder]}" >&2
    status=1
  fi
done

# Checks that each folder of a house includes of that house only itself and what its line names, and
# that every folder has a line: order HOUSE LINES
order() {
  local house=$1 above=' ' line folder below allowed
  for line in "${@:2}"; do
    folder=${line%%:*}
    allowed=$folder
    for below in ${line#*:}; do
      [[ $above == *" $below "* ]] || { echo "$folder names $below, which is not above it" >&2; status=1; }
      allowed+="|$below"
    done
    above+="$folder "
    if grep -nE --include='*.h' --include='*.cc' "^#include \"$house/" "$house/$folder"/*.{h,cc} 2>/dev/null |
      grep -vE "#include \"$house/($allowed)/[^/]*\""; then
      echo "^ $house/$folder may include only: ${allowed//|/ }" >&2
      status=1
    fi
  done
  while read -r folder; do
    [[ $above == *" $folder "* ]] || { echo "$house/$folder has no line here" >&2; status=1; }
  done < <(find "$house" -mindepth 2 -name '*.h' -printf '%h\n' | sort -u | sed "s|^$house/||")
}

order transport \
  'base:' \
  'base/sync: base' \
  'xdr: base' \
  'capture: base' \
  'net: base capture' \
  'rpc: base base/sync xdr net' \
  'tcp: base base/sync xdr rpc capture net' \
  'journal: base xdr capture rpc' \
  'fabric: base net' \
  'fabric/iwarp: base capture net fabric' \
  'fabric/verbs: base net fabric' \
  'rdma: base base/sync xdr rpc net fabric' \
  'recording: base xdr capture net rpc tcp fabric rdma'
order client \
  'proto:' \
  'names: proto' \
  'compound: proto names' \
  'trunk: proto' \
  'session: proto names compound trunk' \
  'requests: proto names compound session' \
  'state: proto names compound session requests' \
  'files: proto names compound session requests state' \
  'recovery: proto names compound trunk session requests state files' \
  'callback: proto names compound session requests state files recovery'
order cache \
  'attr:' \
  'data:' \
  'dir: attr' \
  'file: attr data dir' \
  'write: data file' \
  'read: data file write' \
  'name: file write' \
  'lock: file write'
order fuse \
  'options:' \
  'control:' \
  'channel:' \
  'convert: channel' \
  'kernel: channel convert' \
  'ops: channel convert kernel' \
  'daemon: options control channel ops' \
  'ctl: control'
if grep -rnE --include='*.h' --include='*.cc' '^#include "client/' fuse |
  grep -v '^fuse/daemon/'; then
  echo "^ fuse reaches client through cache; fuse/daemon alone puts the houses together" >&2
  status=1
fi
if grep -rnE --include='*.h' --include='*.cc' '^#include "transport/(fabric/(verbs|iwarp)|rdma|tcp)/' fuse/options; then
  echo "^ the values of options stand on no provider and no transport" >&2
  status=1
fi
if grep -rnE --include='*.h' --include='*.cc' '^#include (<linux/fuse|"fuse/)' cache client; then
  echo "^ no FUSE type under cache or client" >&2
  status=1
fi
if grep -rnE --include='*.h' --include='*.cc' '^#include <fuse(_lowlevel|_log)?\.h>' \
  client cache fuse transport tests | grep -v '^fuse/channel/'; then
  echo "^ libfuse is included under fuse/channel only" >&2
  status=1
fi
exit $status
