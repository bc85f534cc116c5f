#!/usr/bin/env bash
# A server that does not answer: callers can be killed at once, and what they left does no harm.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
head -c 2M /dev/urandom >"$mnt/f"
sync "$mnt/f"

# stalled command...: the command hangs with the server, and goes when it is killed.
stalled() {
  "$@" >/dev/null 2>&1 &
  local pid=$! start
  wait_for "'$*' to wait for the server" grep -q request_wait_answer "/proc/$pid/wchan"
  kill -TERM $pid
  start=$SECONDS
  wait $pid 2>/dev/null && fail "'$*' succeeded without a server"
  [ $((SECONDS - start)) -le 10 ] || fail "'$*' took $((SECONDS - start)) s to die"
}

# direct read|write opened|set: opens $mnt/f for direct I/O, or makes it direct when it is open, says so,
# and works on it once it hears a line.
direct() {
  python3 - "$1" "$mnt/f" "$2" 3<&0 <<'PYTHON'
import fcntl, mmap, os, sys
file = os.open(sys.argv[2], os.O_RDWR | (os.O_DIRECT if sys.argv[3] == "opened" else 0))
fcntl.fcntl(file, fcntl.F_SETFL, os.O_DIRECT)
block = mmap.mmap(-1, 1 << 20)
print("open", flush=True)
os.read(3, 1)
{"read": os.preadv, "write": os.pwritev}[sys.argv[1]](file, [block], 0)
PYTHON
}

# killed_direct read|write opened|set: such a caller, sent on while the server is stopped, goes when
# killed. Of a file that was made direct, or of any before Linux 6.6, the kernel waits where no signal
# is seen and sends no INTERRUPT.
killed_direct() {
  local caller
  coproc caller_of_direct { direct "$1" "$2" 2>"$work/direct.out"; } 2>/dev/null
  # shellcheck disable=SC2154 # bash sets it for the coprocess
  local shell=$caller_of_direct_PID
  local word
  read -r word <&"${caller_of_direct[0]}"
  same open "$word" "the caller of a direct $1"
  caller=$(pgrep -P "$shell" python3 || echo "$shell")
  same ok "$(control stop)" "stop"
  echo >&"${caller_of_direct[1]}"
  wait_for "the direct $1 to wait for the server" waits_for_server "$caller"
  kill -KILL "$caller"
  wait_for "the killed direct $1 to be gone" is_gone "$caller"
  same ok "$(control continue)" "continue"
}

is_gone() { [ ! -e "/proc/$1" ] || grep -q zombie "/proc/$1/status"; }

waits_for_server() { grep -q '(disk sleep)' "/proc/$1/status" || grep -q request_wait_answer "/proc/$1/wchan"; }

for how in opened set; do
  killed_direct read $how
  killed_direct write $how
done
same ok "$(control stop)" "stop"
stalled cat "$mnt/g"
stalled sh -c "echo x >'$mnt/new'"
stalled dd if=/dev/zero of="$mnt/written" bs=64K count=10
stalled dd if="$mnt/f" of=/dev/null bs=1M iflag=direct
stalled mkdir "$mnt/d"
stalled ls "$mnt"
[ "$(counter fuse_interrupted)" -ge 1 ] || fail "no caller was let go early"
same ok "$(control continue)" "continue"

# Everything works on; nothing is left open or half known.
echo after >"$mnt/after"
same after "$(cat "$mnt/after")" "after the stall"
cmp "$mnt/f" "$export/f"
wait_for "the same names on both sides" \
  sh -c "[ \"\$(ls -A '$export')\" = \"\$(ls -A '$mnt')\" ]"
same 0 "$(counter fs_open_files)" "files that stayed open"
