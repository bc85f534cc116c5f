#!/usr/bin/env bash
# The clock of the machine jumps, forth and back: leases, time limits and what is believed of
# attributes go by the clock that does not. Only the program sees the jump, by way of its libraries.
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "no C compiler"
cat >"$work/clock.c" <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec* now) {
  const long failed = syscall(SYS_clock_gettime, clock, now);
  if (failed != 0 || clock != CLOCK_REALTIME) return (int)failed;
  char text[32] = "";
  const int file = open(getenv("CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  if (read(file, text, sizeof text - 1) > 0) now->tv_sec += atol(text);
  close(file);
  if (syscall(SYS_write, 2, "clock asked\n", 12) < 0) return -1;
  return 0;
}
C
cc -shared -fPIC -o "$work/clock.so" "$work/clock.c"

start_responder --lease 2
echo served >"$export/file"
export CLOCK_OFFSET=$work/offset
echo 0 >"$CLOCK_OFFSET"
ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$work/clock.so \
  "$NFSRDMA_BIN/nfsrdma" -f -o "proto=$NFSRDMA_PROTO,port=$port,actimeo=600" 127.0.0.1:/ "$mnt" 2>>"$work/mount.log" &
daemon=$!
leave() {
  local status=$?
  kill -KILL "$daemon" 2>/dev/null || true
  fusermount3 -uz "$mnt" 2>/dev/null || true
  clean_up $status
}
trap leave EXIT
wait_for "the mount" grep -q 'is mounted' "$work/mount.log"

renewed() { [ "$(served SEQUENCE)" -ge $((sequences + 2)) ]; }
exec 9<>"$mnt/file"
flock -n 9
for offset in 40000000 -40000000; do
  echo $offset >"$CLOCK_OFFSET"
  : >"$work/mount.log"
  kill -USR1 "$daemon"
  wait_for "a look at the clock" grep -q "clock asked" "$work/mount.log"
  stat "$mnt/file" >/dev/null
  looked=$(served GETATTR)
  stat "$mnt/file" >/dev/null
  same "$looked" "$(served GETATTR)" "requests for attributes that are believed"
  sequences=$(served SEQUENCE)
  wait_for "renewals of the lease" renewed
  same served "$(cat "$mnt/file")" "a file after a jump of $offset seconds"
  echo "written $offset" >"$mnt/new"
  same "written $offset" "$(cat "$export/new")" "what the server has"
done
grep -aE " [WE] /" "$work/mount.log" && fail "a jump of the clock is a trouble"
kill -USR1 "$daemon"
wait_for "counters" grep -q "counter recovery_client_ids 1$" "$work/mount.log"
exec 9<&-
status=0
kill -TERM "$daemon"
wait "$daemon" || status=$?
same 0 $status "exit status"
