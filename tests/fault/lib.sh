# Sourced by the fault tests: a responder and a mount in a temporary directory.
# shellcheck shell=bash
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
bin=${NFSRDMA_BIN:?directory of the programs}
proto=${NFSRDMA_PROTO:-rdma}
[ -c /dev/fuse ] || { echo "no /dev/fuse"; exit 77; }
command -v fusermount3 >/dev/null || { echo "no fusermount3"; exit 77; }

work=$(mktemp -d -t nfsrdma-fault-XXXXXX)
export_dir=$work/export
mnt=$work/mnt
mkdir "$export_dir" "$mnt"
responder=
daemon=

# start_responder OPTION...: as the user that the command as_user makes it, on the ports of the one before.
as_user=()
rdma_port=
tcp_port=
start_responder() {
  : >"$work/responder.out"
  "${as_user[@]}" "$bin/nfsrdma-responder" --export "$export_dir" --port "${rdma_port:-0}" --tcp-port "${tcp_port:-0}" --control "$work/control" \
    --stats "$work/stats" "$@" >"$work/responder.out" 2>"$work/responder.err" &
  responder=$!
  for _ in $(seq 200); do
    grep -q '^listening on' "$work/responder.out" && break
    kill -0 "$responder" 2>/dev/null || { cat "$work/responder.err"; exit 1; }
    sleep 0.05
  done
  rdma_port=$(port_of "listening on")
  tcp_port=$(port_of "serving TCP on")
  port=$rdma_port
  if [ "$proto" = tcp ]; then port=$tcp_port; fi
}

port_of() { sed -n "s/^$1 .*:\([0-9]*\)\$/\1/p" "$work/responder.out" | head -n 1; }

# start_mount [OPTIONS]: with those and with $NFSRDMA_MOUNT_OPTIONS, in the foreground of a child, so
# that its end and its messages are seen.
start_mount() {
  local options=${NFSRDMA_MOUNT_OPTIONS:+,$NFSRDMA_MOUNT_OPTIONS}${1:+,$1}
  "$bin/nfsrdma" -f -o "proto=$proto,port=$port$options" 127.0.0.1:/ "$mnt" >"$work/mount.log" 2>&1 &
  daemon=$!
  for _ in $(seq 200); do
    mountpoint -q "$mnt" && return
    kill -0 "$daemon" 2>/dev/null || { cat "$work/mount.log"; exit 1; }
    sleep 0.05
  done
  echo "the mount did not come up"
  exit 1
}

control() { "$here/control.py" "$work/control" "$@"; }

# counter NAME
counter() { control stats | sed -n "s/^$1 //p"; }

fail() {
  echo "FAILED: $*"
  exit 1
}

# expect_delayed RULE: a READ has met the fault rule that delays it.
expect_delayed() {
  for _ in $(seq 200); do
    [ "$(counter "fault_$1_delay")" = 1 ] && return
    sleep 0.05
  done
  fail "no READ was delayed"
}

# expect_end WHAT: the daemon, told to end or killed, is gone within a minute; else fails with WHAT.
expect_end() {
  for _ in $(seq 600); do
    kill -0 "$daemon" 2>/dev/null || return 0
    sleep 0.1
  done
  fail "$*"
}

# The daemon must still be there, and the mount answer.
expect_alive() {
  kill -0 "$daemon" 2>/dev/null || fail "the daemon is gone: $*"
  timeout 30 stat "$mnt" >/dev/null || fail "the mount does not answer: $*"
}

clean_up() {
  local status=$?
  if [ "$status" -ne 0 ]; then
    tail -n 30 "$work/mount.log" "$work/responder.err" 2>/dev/null || true
  fi
  [ -n "$responder" ] && kill -CONT "$responder" 2>/dev/null || true
  [ -n "$responder" ] && control clear >/dev/null 2>&1 || true
  mountpoint -q "$mnt" && fusermount3 -u "$mnt" 2>/dev/null || fusermount3 -u -z "$mnt" 2>/dev/null || true
  for pid in $daemon $responder; do
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      [ "$pid" = "$responder" ] && kill "$pid" 2>/dev/null
      sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
  done
  rm -rf "$work"
  exit "$status"
}
trap clean_up EXIT
