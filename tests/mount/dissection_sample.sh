#!/usr/bin/env bash
# Other scripts of this folder, with every mount of theirs recorded as RPCs: one pass of tshark takes all of it apart with no
# malformed mark, and finds what each script is about.
. "$(dirname "$0")/lib.sh"
. "$here/dissection_lib.sh"
tshark=(tshark)
export NFSRDMA_BIN NFSRDMA_PROTO

# sample SCRIPT FILTER...: each filter matches a frame in one of its captures.
sample() {
  local script=$1 filter file found frames=0
  shift
  mkdir "$work/$script"
  NFSRDMA_CAPTURES=$work/$script "$here/$script.sh" >"$work/$script.out" 2>&1 || fail "$script: $(tail -n 20 "$work/$script.out")"
  for file in "$work/$script"/*.pcapng; do
    [ -s "$file" ] || fail "$script has left no capture"
    dissects "$file"
    frames=$((frames + $(frames "$file" nfs)))
  done
  for filter in "$@"; do
    found=0
    for file in "$work/$script"/*.pcapng; do found=$((found + $(frames "$file" "$filter"))); done
    [ $found -gt 0 ] || fail "nothing in the captures of $script matches $filter"
  done
  echo "$script: $frames frames of NFS, none malformed"
  rm -r "${work:?}/$script"
}

sample links 'nfs.opcode == 11' 'nfs.opcode == 27' 'nfs.opcode == 6'
sample locks 'nfs.opcode == 12' 'nfs.opcode == 14'
sample names 'nfs.opcode == 29' 'nfs.opcode == 28'
sample metadata 'nfs.opcode == 34'
sample sizes 'nfs.opcode == 25' 'nfs.opcode == 38'
