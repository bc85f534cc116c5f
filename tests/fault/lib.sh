# Shared by the scripts of this folder, each of which is one test: tests/mount/lib.sh, and what to expect of a mount whose
# server misbehaves.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../mount/lib.sh"
command -v fusermount3 >/dev/null || skip "no fusermount3"

# fault RULE: tells the responder, and prints the number of the rule.
fault() { control fault "$1" | sed 's/ok //'; }

# expect_delayed NUMBER: a READ has met the fault rule that delays it.
expect_delayed() { wait_for "a READ that is delayed" met "$1" delay; }
# met NUMBER FAULT: an operation has met the rule.
met() { [ "$(server_counter "fault_$1_$2")" = 1 ]; }

# expect_end WHAT: the last daemon, told to end or killed, is gone within a minute; else fails with WHAT. Sets
# $ended_with, its exit status.
expect_end() {
  local pid=${mount_pids[-1]}
  for _ in $(seq 600); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -0 "$pid" 2>/dev/null && fail "$*"
  ended_with=0
  wait "$pid" || ended_with=$?
  mount_pids[-1]=
  # A daemon that died leaves a dead mount behind.
  [ "$ended_with" -eq 0 ] || fusermount3 -uz "$mnt" 2>/dev/null || true
}

# The daemon must still be there, and the mount answer.
expect_alive() {
  kill -0 "${mount_pids[-1]}" 2>/dev/null || fail "the daemon is gone: $*"
  timeout 30 stat "$mnt" >/dev/null || fail "the mount does not answer: $*"
}

# An operation that the responder holds back would hold up the unmount.
leave() {
  local status=$?
  if [ -n "$responder_pid" ] && kill -0 "$responder_pid" 2>/dev/null; then
    control clear >/dev/null 2>&1 || true
  fi
  clean_up $status
}
trap leave EXIT
