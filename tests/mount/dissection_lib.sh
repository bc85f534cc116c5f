# shellcheck shell=bash disable=SC2154
# What tests of captures share, besides lib.sh: source it after that. $tshark is the command, with the passes that the
# view of the capture needs.
command -v tshark >/dev/null || skip "no tshark"

# counts FILE FILTER...: how many frames each of them matches, a line each; one pass of tshark for all. No comma in a filter.
counts() {
  local file=$1 IFS=,
  shift
  "${tshark[@]}" -n -q -r "$file" -z "io,stat,0,$*" 2>"$work/tshark.err" |
    awk -F '|' '/<>/ { for (frames = 3; frames + 1 < NF; frames += 2) print $frames + 0 }'
}
# frames FILE FILTER: the number of frames it matches. In two passes a frame counts as what the whole of it is, which counts
# does not know.
frames() { "${tshark[@]}" -n -r "$1" -Y "$2" -T fields -e frame.number 2>/dev/null | wc -l; }
# dissects FILE FILTER...: no frame is marked, and each filter matches some.
dissects() {
  local file=$1 found filter
  local never=('_ws.malformed || _ws.short || _ws.expert.severity == "error"'
    'tcp.analysis.lost_segment || tcp.analysis.retransmission')
  shift
  mapfile -t found < <(counts "$file" "${never[@]}" "$@")
  same $(($# + 2)) ${#found[@]} "numbers that tshark has for $file ($(cat "$work/tshark.err"))"
  same 0 "${found[0]}" "frames of $file that tshark takes for malformed"
  same 0 "${found[1]}" "gaps in the stream of $file"
  found=("${found[@]:2}")
  for filter in "$@"; do
    [ "${found[0]}" -gt 0 ] || fail "nothing in $file matches $filter"
    found=("${found[@]:1}")
  done
}
