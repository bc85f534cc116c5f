# shellcheck shell=bash disable=SC2154
# What tests of captures share, besides lib.sh: source it after that. $tshark is the command, with the passes that the
# view of the capture needs.
command -v tshark >/dev/null || skip "no tshark"

# counts FILE FILTER...: how many frames each of them matches, a line each; one pass of tshark for all. No comma in a filter.
# What tshark has said, and which protocols it has seen, stays in tshark.said for a failure's message.
counts() {
  local file=$1 IFS=,
  shift
  "${tshark[@]}" -n -q -r "$file" -z "io,stat,0,$*" -z io,phs >"$work/tshark.said" 2>&1 ||
    echo "tshark ended with $?" >>"$work/tshark.said"
  awk -F '|' '/<>/ { for (frames = 3; frames + 1 < NF; frames += 2) print $frames + 0 }' "$work/tshark.said"
}
# frames FILE FILTER: the number of frames it matches. In two passes a frame counts as what the whole of it is, which counts
# does not know.
frames() { "${tshark[@]}" -n -r "$1" -Y "$2" -T fields -e frame.number 2>/dev/null | wc -l; }
# all_found WHAT FILTER...: each filter has matched some frame; found has the numbers, in the same order.
all_found() {
  local what=$1 filter at=0
  shift
  for filter in "$@"; do
    [ "${found[at++]:-0}" -gt 0 ] || fail "nothing in $what matches $filter"$'\n'"$(cat "$work/tshark.said")"
  done
}
# all_answered FILE: every call has its reply, as tshark counts them.
all_answered() {
  local found
  mapfile -t found < <(counts "$1" 'rpc.msgtyp == 0' 'rpc.msgtyp == 1')
  same "${found[0]}" "${found[1]}" "calls and replies of $1"
}
# dissects FILE FILTER...: no frame is marked, and each filter matches some. In two passes counts finds less than there is,
# so it does not look for what must not be there.
dissects() {
  local file=$1 found
  shift
  same "" "$("${tshark[@]}" -n -r "$file" -Y '_ws.malformed || _ws.short || _ws.expert.severity == "error"' 2>/dev/null | head -n 5)" \
    "frames of $file that tshark takes for malformed"
  same 0 "$(frames "$file" 'tcp.analysis.lost_segment || tcp.analysis.retransmission')" "gaps in the stream"
  mapfile -t found < <(counts "$file" "$@")
  all_found "$file" "$@"
}
