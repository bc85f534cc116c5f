# shellcheck shell=bash disable=SC2034,SC2154
# With NFSRDMA_CAPTURES, a folder: every mount of a script has a capture there. lib.sh sources this file; tests/captures
# checks what is in the folder.
captured_as=${NFSRDMA_CAPTURED_AS:-$(basename "$(cd "$(dirname "$0")" && pwd)").$(basename "$0" .sh)}
export NFSRDMA_CAPTURED_AS=$captured_as

# A script stands in the place of the program, because mounts are made in many ways: by mount(8), by other users, from
# copies. So the program lies beside it, where other users reach it, too; its folder is removed with the captures.
capture_mounts() {
  local programs=$NFSRDMA_CAPTURES/programs-$$
  if [ ! -d "$programs" ]; then
    mkdir -p "$programs/itself"
    ln -s "$NFSRDMA_BIN"/* "$programs"
    rm "$programs/nfsrdma"
    cp "$NFSRDMA_BIN/nfsrdma" "$programs/itself/nfsrdma"
    write_stand_in "$programs/itself/nfsrdma" >"$programs/nfsrdma"
    chmod 755 "$programs" "$programs/itself" "$programs/nfsrdma"
  fi
  program=$programs/itself/nfsrdma
  NFSRDMA_BIN=$programs
}

# write_stand_in PROGRAM: runs it, with a capture where the words mount and ask for none of their own. A script that captures
# by nfsrdmactl exports NFSRDMA_OWN_CAPTURES: there is one capture at a time.
write_stand_in() {
  printf '#!/usr/bin/env bash\nfile=%q view=%q program=%q\n' "$NFSRDMA_CAPTURES/$captured_as-XXXXXXXX.pcapng" \
    "${NFSRDMA_CAPTURE_VIEW:-rpc}" "$1"
  cat <<'SCRIPT'
words=("$@")
for i in "${!words[@]}"; do
  if [[ -z ${NFSRDMA_OWN_CAPTURES:-} && $i -gt 0 && ${words[i - 1]} = -o && " $*" != *[\ ,]capture=* ]]; then
    words[i]+=,capture_view=$view,capture=$(mktemp "$file") || exit
    break
  fi
done
exec -a "$0" "$program" "${words[@]}"
SCRIPT
}

# keep_captures: those that the script itself has asked for join the others, under their names.
keep_captures() {
  local file
  rm -rf "$NFSRDMA_CAPTURES/programs-$$"
  while IFS= read -r -d '' file; do
    mv "$file" "$NFSRDMA_CAPTURES/$captured_as-own-$(basename "$file")"
  done < <(find "$work" -xdev -path "$export" -prune -o -type f -name '*.pcap*' -print0)
}
