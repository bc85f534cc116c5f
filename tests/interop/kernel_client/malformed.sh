#!/usr/bin/env bash
# Malformed replies, each kind to READ, WRITE and LOOKUP of the kernel's client: it must neither fall nor show wrong data
# without an error, and must work afterwards. A call that it goes on waiting for ends with the connection. Prints a table.
# Usage: malformed.sh siw|tcp
. "$(dirname "$0")/lib.sh"
serve_kernel "$1" --lease 60
head -c 300000 /dev/urandom >"$export/data"
cp "$export/data" "$jobs/data"
mount_kernel "$kernel_port" lookupcache=none,noac

kinds="truncated wrong-xid wrong-rpc-xid wrong-version wrong-proc bad-chunks read-list missing-chunk missing-segment
changed-handle long-length short-length inline-result write-pad oversize rpc results"
[ "$1" = siw ] || kinds="truncated wrong-xid oversize rpc results"
looks_before_disconnect=120  # a call that is not answered would wait for a minute

# outcome NAME: how the job ended, and whether it needed a new connection.
outcome() {
  local looks=0 said=
  until [ -s "$jobs/$1.status" ]; do
    looks=$((looks + 1))
    [ $looks -le $patience ] || fail "$kind: $1 hangs"
    if [ $looks = $looks_before_disconnect ]; then
      control disconnect >/dev/null
      said=" (new connection)"
    fi
    sleep $between_looks
  done
  case $(cat "$jobs/$1.status") in
  0) echo "right$said" ;;
  *) echo "$(tail -n 1 "$jobs/$1.out" | sed 's/.*: //')$said" ;;
  esac
}
# spoiled OPERATION NAME LINE: the line, one reply of which is malformed.
spoiled() {
  local id
  id=$(fault "malformed=$kind:op=$1:times=1")
  launch "$2" "timeout $operation_patience bash -c '$3'"
  ended=$(outcome "$2")
  met "$id" malformed || fail "$kind: no $1 was malformed"
  control clear >/dev/null
}
for kind in $kinds; do
  spoiled READ read "set -e; dd if=data of=/tmp/copy bs=128k iflag=direct 2>/tmp/said || { grep error /tmp/said; exit 1; }
    cmp /tmp/copy /share/kernel/data || { echo WRONG DATA; exit 1; }"
  read=$ended
  spoiled WRITE write "cp data new"
  write=$ended
  case $write in
  right*) cmp "$export/data" "$export/new" || write="WRONG DATA" ;;
  esac
  spoiled LOOKUP look "stat nothing 2>&1 | sed s/.*:.//; [ ! -e nothing ] || { echo FOUND; exit 1; }"
  printf '%-16s %-45s %-45s %s\n' "$kind" "$read" "$write" "$(tail -n 1 "$jobs/look.out") $ended"
  in_mount "rm -f new; cmp data /share/kernel/data" || fail "$kind: the mount is not the same again"
done
unmount_kernel || fail "the guest does not unmount"
