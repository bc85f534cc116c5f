#!/usr/bin/env bash
# A file that may only be executed is run and not read, on a mount where the server alone decides. Servers let OPEN and READ pass
# for a user who may execute: the client asks ACCESS, and knows from the kernel which of both the open is for.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "not root: files of another user are needed"
chmod 755 "$work"
other=65533

# may "what" STATUS USER command...: how a command of that user ends: done, or refused.
may() {
  local what=$1 wanted=$2 user=$3 found=done
  shift 3
  setpriv --reuid "$user" --regid "$user" --clear-groups "$@" >"$work/said" 2>&1 || found=refused
  same "$wanted" "$found" "$what"
}
# Each mode by root's file, in turn with another user, whose rights must not become the next one's.
try() {
  local mode=$1 reads=$2 round
  for round in 1 2; do
    may "mode $mode to be run" done $ordinary_user "$mnt/program$mode"
    may "mode $mode to be read" "$reads" $ordinary_user cat "$mnt/program$mode"
    may "mode $mode to be read by another, round $round" "$reads" $other cat "$mnt/program$mode"
    may "mode $mode to be run by another, round $round" done $other "$mnt/program$mode"
    cat "$mnt/program$mode" >"$work/said" || fail "root does not read mode $mode"
    may "mode $mode to be read after root" "$reads" $ordinary_user cat "$mnt/program$mode"
  done
}
try_all() {
  try 0111 refused
  try 0551 refused
  try 0711 refused
  may "mode 0744 to be run" refused $ordinary_user "$mnt/program0744"
  may "mode 0744 to be read" done $ordinary_user cat "$mnt/program0744"
  # The user's own file: its maker reads it while it is open, and nobody by another open(2).
  python3 - "$mnt/own" $ordinary_user <<'PY' || fail "a file of mode 0111 that its maker has open"
import os, sys
path, user = sys.argv[1], int(sys.argv[2])
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
f = os.open(path, os.O_RDWR | os.O_CREAT, 0o111)
assert os.write(f, b"new") == 3 and os.pread(f, 9, 0) == b"new"
os.close(f)
try:
    os.open(path, os.O_RDONLY)
    sys.exit("it was opened")
except PermissionError: pass
os.unlink(path)
PY
}

chmod 1777 "$export"
for mode in 0111 0551 0711 0744; do
  cp "$(type -P true)" "$export/program$mode"
  chmod $mode "$export/program$mode"
done
start_responder
mount_export allow_other,nodefault_permissions
try_all
unmount_export
kill "$responder_pid"
wait "$responder_pid" || fail "the responder failed"

# Under delegations an open that the server has proven once is answered here.
start_responder --delegations write
mount_export allow_other,nodefault_permissions
try_all
[ "$(counter delegation_opens 1)" -gt 0 ] || fail "no open was answered under a delegation"
