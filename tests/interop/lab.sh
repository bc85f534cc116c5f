#!/usr/bin/env bash
# nfsrdma-lab against knfsd: the answers of `probe` are those of the table in tests/lab/probe/README.md, each is in the frames that
# are named for it, and the reports of tests/lab/reports end as their table says. Over rxe in the guest, through its
# device; over siw and TCP from here.
# Usage: lab.sh rxe|siw|tcp PATH
. "$(dirname "$0")/lib.sh"
kind=$1 path=$2
lab_tests=$interop/../lab
answer_patience=20  # seconds: a server that is emulated beside other work may need them for a session
use_guest
kernel=$(guest_run "uname -r" | grep -oE '^[0-9]+\.[0-9]+')
mkdir -p "$guest_dir/share/lab"
refused_before=$(guest_refused)
cp "$lab_tests"/reports/*.nfs "$guest_dir/share/lab/"

case $kind in
rxe)
  into_guest nfsrdma-lab
  server=verbs:$(guest_run "rdma-device rxe dummy0")$path
  files=/share/lab
  lab() { GUEST_PATIENCE=800 guest_run "LD_LIBRARY_PATH=/share/programs/lib /share/programs/nfsrdma-lab $* 2>&1"; }
  ;;
siw | tcp)
  caused "siw: got TERMINATE. layer 2, type 1, code 2"  # for memory that no side has
  declare -A prefix=([siw]=iwarp: [tcp]=tcp:) ports=([siw]=20049 [tcp]=2049)
  server=${prefix[$kind]}127.0.0.1:$(guest_port "${ports[$kind]}")$path
  files=$guest_dir/share/lab
  lab() { "$NFSRDMA_BIN/nfsrdma-lab" "$@" 2>&1; }
  ;;
*) fail "kind $kind" ;;
esac

lab probe "$server" --patience $answer_patience --json --capture "$files/probe.pcapng" >"$work/probe.json" || fail "probe: $(cat "$work/probe.json")"
python3 "$interop/lab.py" "$lab_tests/probe/README.md" "knfsd $kernel, $kind" "$work/probe.json" "$guest_dir/share/lab/probe.pcapng"

# expected REPORT: how its script ends against this server, as a pattern.
expected() {
  case $kind:$kernel:$1 in
  rxe:*:05-* | rxe:*:33-*) echo 4 ;;  # a device lets no program send what is below messages
  *:23-* | *:31-*) echo 1 ;;          # no delegation for a new session; no text by a Write chunk
  *:34-*) echo 1 ;;                   # a Write chunk and a Reply chunk: the connection ends
  *:6.12:16-* | *:7.*:16-*) echo 1 ;; # zeros in the chunk of the second READ
  *:6.12:24-* | *:7.*:24-*) echo '[01]' ;;  # DELAY while the delegation of 23 lives
  *) echo 0 ;;
  esac
}
wrong=
if [ $kind = tcp ]; then  # they are about chunks and headers
  guest_note_refused "$refused_before"
  exit 0
fi
for report in "$lab_tests"/reports/*.nfs; do
  name=$(basename "$report")
  # The guest would go down.
  case $kind:$name in siw:33-*) continue ;; esac
  status=0
  lab script "$files/$name" "$server" --patience $answer_patience --capture "$files/$name.pcapng" >"$work/$name.log" || status=$?
  echo "$name: $status"
  grep -qx "$(expected "$name")" <<<$status || wrong+=" $name"
done
[ -z "$wrong" ] || fail "these end otherwise than expected:$wrong"
guest_note_refused "$refused_before"
