#!/usr/bin/env bash
# run_client.sh FILE.faults: runs the faults of one report against a mount of this client, which must go on with right data.
# README.md has the words.
report=$(readlink -f "$1")
folder=$(dirname "$(readlink -f "$0")")
NFSRDMA_PROTO=$(sed -n 's/^# over: //p' "$report")
export NFSRDMA_PROTO=${NFSRDMA_PROTO:-rdma}
. "$folder/../../mount/lib.sh"
lab=$NFSRDMA_BIN/nfsrdma-lab

# "# needs: OPTIONS" are options of the responder, "# runs: PROGRAM TESTS" is a report whose condition is the client's alone.
runs=$(sed -n 's/^# runs: //p' "$report")
if [ -n "$runs" ]; then
  read -r program tests <<<"$runs"
  "$NFSRDMA_BIN/$program" --gtest_filter="$tests" >"$work/tests.log" || fail "$program $tests"
  grep -q '^\[  PASSED  \] [1-9]' "$work/tests.log" || fail "no test is named $tests"
  exit 0
fi

# at_least FOUND WANTED WHAT
at_least() { [ "$1" -ge "$2" ] || fail "line $line: $3 is $1, and should be at least $2"; }
at_most() { [ "$1" -le "$2" ] || fail "line $line: $3 is $1, and should be at most $2"; }
# expect server|mount COUNTER >=|<= NUMBER
expect() {
  local found
  if [ "$1" = server ]; then found=$(server_counter "$2"); else found=$(counter "$2"); fi
  case $3 in
    '>=') at_least "$found" "$4" "$1 $2" ;;
    '<=') at_most "$found" "$4" "$1 $2" ;;
    *) fail "line $line: $3 is neither >= nor <=" ;;
  esac
}
load() { timeout 60 "$folder/load.py" "$mnt" "$export" "$@" >"$work/load.log" 2>&1 || fail "line $line: $(tail -n 3 "$work/load.log")"; }
declare -a loads=()
begin() {
  timeout 60 "$folder/load.py" "$mnt" "$export" "$@" >>"$work/load.log" 2>&1 &
  loads+=($!)
}
end_loads() {
  local pid
  for pid in "${loads[@]}"; do wait "$pid" || fail "line $line: $(tail -n 3 "$work/load.log")"; done
  loads=()
}
# What stat(2) says of a name is an error, and soon.
fails() {
  local status=0
  timeout 60 stat "$mnt/$1" >/dev/null 2>&1 || status=$?
  [ $status -ne 0 ] && [ $status -ne 124 ] || fail "line $line: stat $1 ended with $status"
}
reached() { [ "$(server_counter "$1")" -ge "$2" ]; }
# The server dies without a word, and another one comes to the same ports.
replace_server() {
  kill -KILL "$responder_pid"
  wait "$responder_pid" 2>/dev/null || true
  at_rdma_port=$rdma_port at_tcp_port=$tcp_port start_responder "${needs[@]}"
}

read -ra needs <<<"$(sed -n 's/^# needs: //p' "$report")"
start_responder "${needs[@]}"
line=0
while read -r word rest; do
  line=$((line + 1))
  case $word in
    '' | '#'*) continue ;;
    mount) mount_export "$rest" ;;
    tell) told=$(control "$rest") || fail "line $line: $told" ;;
    lint)
      unmount_export
      "$lab" lint "$work/$rest" >"$work/lint.log" || fail "line $line: $(grep Seen "$work/lint.log" | head -n 3)"
      grep -q '^connection 1: ' "$work/lint.log" || fail "line $line: nothing in the capture"
      ;;
    open) exec 7<"$mnt/$rest" ;;
    close) exec 7<&- ;;
    load | begin | expect | fails)
      read -ra words <<<"$rest"
      "$word" "${words[@]}"
      ;;
    until) read -ra words <<<"$rest" && wait_for "line $line: $rest" reached "${words[@]}" ;;
    end) end_loads ;;
    replace) replace_server ;;
    *) fail "line $line: no word '$word'" ;;
  esac
done <"$report"
end_loads
control clear >/dev/null
mountpoint -q "$mnt" || exit 0
# It is the same mount, and it is right.
kill -0 "${mount_pids[-1]}" 2>/dev/null || fail "the daemon is gone"
load reads threads=1 count=2
load writes threads=1 count=2
