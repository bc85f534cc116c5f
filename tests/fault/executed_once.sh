#!/usr/bin/env bash
# Changes that cannot be repeated: the connection breaks after they were executed and before the
# reply. The client sends them again on a new connection; the server's replay cache must answer.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
echo content >"$mnt/file"
mkdir "$mnt/dir"

# once OPERATION COMMAND...: the command must succeed although the first reply is lost.
once() {
  local operation=$1 id
  shift
  id=$(fault "disconnect=after:op=$operation:times=1")
  timeout 60 "$@" || fail "$operation: $*"
  met "$id" disconnect || fail "$operation: the reply was not lost"
  control remove "$id" >/dev/null
}

once CREATE mkdir "$mnt/new"
once CREATE ln -s target "$mnt/symlink"
once CREATE mkfifo "$mnt/fifo"
once LINK ln "$mnt/file" "$mnt/hardlink"
once RENAME mv "$mnt/file" "$mnt/renamed"
once REMOVE rm "$mnt/hardlink"
once REMOVE rmdir "$mnt/new"
once OPEN sh -c "set -C; echo exclusive >'$mnt/exclusive'"
once WRITE sh -c "echo appended >>'$mnt/renamed'"
once SETATTR truncate -s 3 "$mnt/exclusive"

[ "$(cat "$mnt/renamed")" = $'content\nappended' ] || fail "a write was lost or done twice"
[ "$(cat "$mnt/exclusive")" = exc ] || fail "wrong content"
[ "$(readlink "$mnt/symlink")" = target ] || fail "wrong link"
[ ! -e "$mnt/file" ] && [ ! -e "$mnt/hardlink" ] && [ ! -e "$mnt/new" ] || fail "something is left"
[ "$(stat -c %h "$export/renamed")" = 1 ] || fail "wrong link count"

# The reply is swallowed on a connection that stays up; it comes when the connection is broken.
id=$(fault drop-reply:op=CREATE:times=1)
timeout 60 mkdir "$mnt/dropped" &
pending=$!
wait_for "the call" met "$id" drop-reply
[ -d "$export/dropped" ] || fail "the call was not executed"
control disconnect >/dev/null
wait "$pending" || fail "mkdir after a dropped reply"
expect_alive
