# shellcheck shell=bash disable=SC2154
# What the tests of the command itself share, besides lib.sh: source it after that.

# expect CODE "text" command...: the exit code, and one line on standard error that has the text.
expect() {
  local code=$1 text=$2 status=0
  shift 2
  timeout 60 "$@" >"$work/said.out" 2>"$work/said.err" || status=$?
  same "$code" "$status" "exit code of '$*' ($(cat "$work/said.err"))"
  same 1 "$(wc -l <"$work/said.err")" "lines on standard error of '$*' ($(cat "$work/said.err"))"
  grep -qF -- "$text" "$work/said.err" || fail "'$*' said: $(cat "$work/said.err"); expected: $text"
  ! mountpoint -q "$mnt" || fail "'$*' left something mounted"
}

# daemons: the process ids of the programs that serve mounts from $port in the background, a line each: one that was
# unmounted goes on for a moment. daemon: the first of them.
daemons() {
  local pid
  for pid in $(pgrep -x nfsrdma); do
    if grep -qaF -- "port=$port" "/proc/$pid/cmdline" 2>/dev/null; then echo "$pid"; fi
  done
}
daemon() {
  local pids
  mapfile -t pids < <(daemons)
  [ "${#pids[@]}" -gt 0 ] || fail "no program serves port $port"
  echo "${pids[0]}"
}
no_daemon() { [ -z "$(daemons)" ]; }

gone() { ! kill -0 "$1" 2>/dev/null || [ "$(cut -d' ' -f3 "/proc/$1/stat")" = Z ]; }
not_mounted() { ! mountpoint -q "$1"; }

# Mounts in the background are not known to lib.sh.
leave() {
  local status=$?
  set +e
  fusermount3 -uz "$mnt" 2>/dev/null
  (exit $status)
  clean_up
}
trap leave EXIT
