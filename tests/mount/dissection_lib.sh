# shellcheck shell=bash disable=SC2154
# What tests of captures share, besides lib.sh: source it after that. $tshark is the command, with the passes that the
# view of the capture needs.
command -v tshark >/dev/null || skip "no tshark"

# frames FILE FILTER: the number of frames it matches.
frames() { "${tshark[@]}" -n -r "$1" -Y "$2" -T fields -e frame.number 2>/dev/null | wc -l; }
# dissects FILE FILTER...: no frame is marked, and each filter matches some.
dissects() {
  local file=$1 filter
  shift
  same "" "$("${tshark[@]}" -n -r "$file" -Y '_ws.malformed || _ws.short || _ws.expert.severity == "error"' 2>/dev/null | head -n 5)" \
    "frames of $file that tshark takes for malformed"
  same 0 "$(frames "$file" 'tcp.analysis.lost_segment || tcp.analysis.retransmission')" "gaps in the stream"
  for filter in "$@"; do
    [ "$(frames "$file" "$filter")" -gt 0 ] || fail "nothing in $file matches $filter"
  done
}
