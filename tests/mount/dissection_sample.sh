#!/usr/bin/env bash
# Other scripts of this folder, with every mount of theirs captured as RPCs: one pass of tshark takes all of it apart, and lint
# finds nothing (tests/captures/check.py); what each script is about is in it. And what is wrong in a capture is found: of a
# server, unless it does wrong on purpose, and of a client always.
. "$(dirname "$0")/lib.sh"
. "$here/dissection_lib.sh"
[ -x "$NFSRDMA_BIN/nfsrdma-lab" ] || skip "no $NFSRDMA_BIN/nfsrdma-lab"
tshark=(tshark)
captures=$work/captures
said=$work/said
check() { python3 "$here/../captures/check.py" --bin "$NFSRDMA_BIN" "$@" >"$said" 2>&1; }

# sample SCRIPT FILTER...: each filter matches a frame in one of its captures.
sample() {
  local script=$1 file number
  local -a found counted
  shift
  mkdir "$captures"
  NFSRDMA_CAPTURED_AS='' NFSRDMA_CAPTURES=$captures "$here/$script.sh" >"$work/$script.out" 2>&1 ||
    fail "$script: $(tail -n 20 "$work/$script.out")"
  check "$captures" || fail "captures of $script: $(cat "$said")"
  for file in "$captures/mount.$script"-*.pcapng; do
    mapfile -t counted < <(counts "$file" "$@")
    for number in "${!counted[@]}"; do found[number]=$((${found[number]:-0} + counted[number])); done
  done
  all_found "the captures of $script" "$@"
  rm -r "$captures"
}
export NFSRDMA_BIN NFSRDMA_PROTO
sample links 'nfs.opcode == 11' 'nfs.opcode == 27' 'nfs.opcode == 6'
sample locks 'nfs.opcode == 12' 'nfs.opcode == 14'
sample names 'nfs.opcode == 29' 'nfs.opcode == 28'
sample metadata 'nfs.opcode == 34'
sample sizes 'nfs.opcode == 25' 'nfs.opcode == 38'

# A folder without captures is no success.
mkdir "$captures"
! check "$captures" || fail "an empty folder passes"

start_responder
mount_export "capture=$captures/whole.pcapng,capture_view=rpc"
ls "$mnt" >/dev/null
unmount_export
check "$captures" || fail "a capture with nothing wrong: $(cat "$said")"
# with WORDS OFFSET VALUE NAME: a copy in which the word that many bytes behind the last of the words in hexadecimal is another.
with() {
  python3 - "$captures/whole.pcapng" "$@" <<'PY'
import pathlib, sys
whole, words, offset, value, name = sys.argv[1:]
data = bytearray(open(whole, "rb").read())
at = data.rindex(bytes.fromhex(words)) + int(offset)
data[at:at + 4] = int(value).to_bytes(4, "big")
pathlib.Path(whole).with_name(name).write_bytes(data)
PY
}
# A reply that is accepted, whose tag is longer than the reply.
with '00000001 00000000 00000000 00000000 00000000' 24 60000 server.pcapng
! check "$captures" || fail "a server's wrong reply passes: $(cat "$said")"
grep -q 'frame [0-9]* of the server: tshark: malformed' "$said" || fail "tshark and a server's wrong reply: $(cat "$said")"
grep -q 'frame [0-9]* of the server: RFC' "$said" || fail "lint and a server's wrong reply: $(cat "$said")"
# A call of COMPOUND whose credential is longer than the call, on a server that does wrong on purpose.
excused=mount.lab_lint-own-fault.pcapng
mv "$captures/whole.pcapng" "$captures/kept"
mv "$captures/server.pcapng" "$captures/$excused"
check "$captures" || fail "a server that does wrong on purpose: $(cat "$said")"
mv "$captures/$excused" "$captures/whole.pcapng"
with '000186a3 00000004 00000001' 16 400 "$excused"
mv "$captures/kept" "$captures/whole.pcapng"
! check --remove "$captures" || fail "a client's wrong call passes: $(cat "$said")"
grep -q 'of the client: ' "$said" || fail "nothing of the client: $(cat "$said")"
! grep -q 'of the server: ' "$said" || fail "a server that is excused: $(cat "$said")"
same $excused "$(ls "$captures")" "what is left, of one capture that is clean and one that is not"
