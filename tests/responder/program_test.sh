#!/usr/bin/env bash
# The program: its line when it is ready, control socket, counters, signals, exit status, man page.
set -euo pipefail
bin=${NFSRDMA_BIN:?directory of the programs}
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d -t nfsrdma-responder-XXXXXX)
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/export"

fail() {
  echo "FAILED: $*"
  cat "$work/err" 2>/dev/null || true
  exit 1
}
control() { "$here/../mount/control.py" "$work/control" "$@"; }

# Wrong command lines: exit status 2 and one line that says why.
for options in "" "--export" "--export $work/export --bogus" "--export $work/export --credits 0" \
  "--export $work/export --credits 129" "--export $work/export --connections 0" \
  "--export $work/export --inline 1000"; do
  status=0
  # shellcheck disable=SC2086
  "$bin/nfsrdma-responder" $options >"$work/out" 2>"$work/err" || status=$?
  [ "$status" = 2 ] || fail "'$options': exit status $status"
  [ "$(wc -l <"$work/err")" = 1 ] || fail "'$options': not one line"
done
for options in "--export $work/nothing" "--export $work/export --port 0 --fault bogus" \
  "--export $work/export --port 0 --bind 203.0.113.1" \
  "--export $work/export --port 0 --control $work/nothing/control"; do
  status=0
  # shellcheck disable=SC2086
  "$bin/nfsrdma-responder" $options >"$work/out" 2>"$work/err" || status=$?
  [ "$status" = 1 ] || fail "'$options': exit status $status"
done

grep -qx 'nfsrdma-responder [0-9.]*\(, commit [0-9a-f]*\(-dirty\)\?\)\?' <<<"$("$bin/nfsrdma-responder" --version)" || fail "--version"

# Every option of --help is in the man page.
"$bin/nfsrdma-responder" --help >"$work/help"
for option in $(grep -o -- '--[a-z-]*' "$work/help" | sort -u); do
  grep -qF -- "${option//-/\\-}" "$here/../../man/nfsrdma-responder.8" ||
    fail "$option is not in the man page"
done

"$bin/nfsrdma-responder" --export "$work/export" --port 0 --bind 127.0.0.1 \
  --control "$work/control" --stats "$work/stats" --capture "$work/capture" \
  --fault delay=1:op=READ >"$work/out" 2>"$work/err" &
pid=$!
for _ in $(seq 200); do
  grep -q . "$work/out" && break
  kill -0 "$pid" 2>/dev/null || fail "it ended"
  sleep 0.05
done
grep -qx 'listening on 127\.0\.0\.1:[1-9][0-9]*' "$work/out" || fail "$(cat "$work/out")"

# It takes commands that break things: only its own user may give them.
[ "$(stat -c %a "$work/control")" = 600 ] || fail "the control socket has mode $(stat -c %a "$work/control")"

# A second start leaves the first one's socket to it.
status=0
"$bin/nfsrdma-responder" --export "$work/export" --port 0 --control "$work/control" >/dev/null 2>"$work/second" || status=$?
[ "$status" = 1 ] || fail "a second one on the same control socket: exit status $status"
grep -q "Address already in use" "$work/second" || fail "$(cat "$work/second")"

[ "$(control fault drop-reply)" = "ok 2" ] || fail "fault"
[ "$(control remove 2)" = ok ] || fail "remove"
[ "$(control remove 2)" = "error: no such rule" ] || fail "remove twice"
[[ "$(control fault nonsense)" == error:* ]] || fail "wrong fault"
[[ "$(control fault nonsense=1)" == *"'nonsense=1' is none of: delay=MS, "*", malformed=oversize, "* ]] || fail "a wrong fault does not name those there are"
[[ "$(control fault rdma-error=x)" == *"is none of: rdma-error=version, rdma-error=chunk"* ]] || fail "a wrong value does not name those there are"
[ "$(control nonsense)" = "error: no command 'nonsense'; help lists them" ] || fail "wrong command"
control help >"$work/commands"
while read -r command _; do
  case $command in fault | remove | request | raise | target-slots | recall-slots | callback | help | ok) continue ;; esac
  [[ "$(control "$command" | tail -n 1)" == ok* ]] || fail "'$command' of help"
done <"$work/commands"
for word in $(sed 's/^fault //; s/[ :=].*//' "$work/commands" | sort -u); do
  grep -q -- "^\.B.*${word//-/\\\\-}" "$here/../../man/nfsrdma-responder.8" || [ "$word" = ok ] || fail "$word is not in the man page"
done
[[ "$(control fault wire=reset)" == error:*"needs --wire-faults"* ]] || fail "a fault of the wire without --wire-faults"
[ "$(control target-slots 4)" = ok ] || fail "target-slots"
[ "$(control recall-slots)" = "error: no number of slots" ] || fail "recall-slots without a number"
[ "$(control callback another-session 3 cut=50)" = "ok 0" ] || fail "callback without a client"
[ "$(control callback nothing-of-the-kind)" = "error: no callback 'nothing-of-the-kind'" ] || fail "an unknown callback"
[ "$(control callback another-session many)" = "error: 'many' is no number" ] || fail "a callback without a count"
grep -qx 'fault lie=READ-of-20000-bytes' "$work/commands" || fail "help does not list lies"
grep -qx 'callback sequence-number-0 \[N\] \[cut=BYTES\]' "$work/commands" || fail "help does not list callbacks"
for command in stop continue disconnect restart clear; do
  [ "$(control "$command")" = ok ] || fail "$command"
done
grep -qx 'connections 0' <<<"$(control stats)" || fail "stats"

kill -USR1 "$pid"
for _ in $(seq 200); do
  [ -s "$work/stats" ] && break
  sleep 0.05
done
grep -qx 'nfs.restarts 3' "$work/stats" || fail "SIGUSR1"
rm "$work/stats"

kill -TERM "$pid"
status=0
wait "$pid" || status=$?
pid=
[ "$status" = 0 ] || fail "SIGTERM: exit status $status"
grep -qx 'calls 0' "$work/stats" || fail "no counters at the end"
[ ! -e "$work/control" ] || fail "the control socket is left over"
[ -s "$work/capture" ] || fail "no capture"
