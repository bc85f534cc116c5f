#!/usr/bin/env bash
# soft and softerr: a caller that waits for a server that does not answer gets an error when timeo and
# retrans are over, never before. A slow answer is no error. Afterwards everything works.
. "$(dirname "$0")/lib.sh"
start_responder
echo content >"$export/file"

# fails_with "message" command...
fails_with() {
  local message=$1 output
  shift
  output=$(LC_ALL=C timeout 60 "$@" 2>&1 >/dev/null) && fail "$* succeeded"
  case $output in *"$message"*) ;; *) fail "$*: expected '$message', found '$output'" ;; esac
}

# run OPTION "message"
run() {
  mount_export "$1,timeo=5,retrans=1,noac,lookupcache=none"
  exec 5<"$mnt/file" 6>"$mnt/written"
  # Slower than the time-out in all, but the server answers: with DELAY, again and again.
  control fault nfsstat=NFS4ERR_DELAY:op=CREATE:times=4 >/dev/null
  mkdir "$mnt/slow-$1" || fail "$1: DELAY is an answer"
  control stop >/dev/null
  fails_with "$2" cat /dev/fd/5
  fails_with "$2" stat "$mnt/file"
  fails_with "$2" rm "$mnt/file"
  fails_with "$2" sh -c '/bin/echo x >&6'
  control continue >/dev/null
  wait_for "what was written" test -s "$export/written"
  [ "$(cat "$export/written")" = x ] || fail "$1: the call that was given up was lost"
  [ "$(cat "$mnt/file")" = content ] || fail "$1: wrong data afterwards"
  exec 5<&- 6>&-
  expect_alive
  unmount_export
}
run soft "Input/output error"
run softerr "timed out"
