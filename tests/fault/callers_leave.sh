#!/usr/bin/env bash
# The server does not answer, and callers leave in ways in which they see no signal any more. A process
# that exits with data to write ends all the same; the data arrives later, or the failure is logged. A
# reader that is killed leaves no locked page behind, for which a truncation would wait.
. "$(dirname "$0")/lib.sh"
ulimit -c 0
start_responder
head -c 4M /dev/zero >"$export/read"
mount_export
text="written by one that has left"

cat >"$work/writer.py" <<'P'
"""writer.py FILE TEXT HOW: writes once it hears a line, and exits without closing, or closes."""
import os, sys, threading, time
name, text, how = sys.argv[1:]
file = os.open(name, os.O_CREAT | os.O_RDWR)
print("open", flush=True)
sys.stdin.readline()
os.pwrite(file, text.encode(), 0)
if how == "close":
    os.close(file)
    print("closed", flush=True)
if how == "thread":  # exit_group(2) of another than the first one
    threading.Thread(target=os._exit, args=(0,)).start()
    time.sleep(3600)
if how == "abort":  # a core dump's signal is not pending any more
    os.abort()
os._exit(0)
P

# writer NAME HOW: starts one that will write to NAME; sets $pid, and $to: it writes after a line there.
writer() {
  mkfifo "$work/$1.go"
  python3 "$work/writer.py" "$mnt/$1" "$text" "$2" <"$work/$1.go" >"$work/$1.said" 2>&1 &
  pid=$!
  exec {to}>"$work/$1.go"
  wait_for "the writer of $1" grep -q open "$work/$1.said"
}

# expect_gone PID WHAT: it ends although the server does not answer.
expect_gone() {
  for _ in $(seq 300); do
    if [ ! -e "/proc/$1" ] || grep -q zombie "/proc/$1/status" 2>/dev/null; then return; fi
    sleep 0.1
  done
  fail "$2 does not end: $(cat "/proc/$1/wchan")"
}

# expect_line FILE TEXT
expect_line() { wait_for "'$2' in $1" grep -q "$2" "$1"; }

pids=() go=()
for how in close exit thread abort; do
  writer $how $how
  pids+=("$pid") go+=("$to")
done
control stop >/dev/null
for to in "${go[@]}"; do echo >&"$to"; done
for i in 1 2 3; do expect_gone "${pids[$i]}" "a process that exits ($i)"; done
# A process that goes on waits in close(2) for as long as it takes: it has to learn what becomes of its data.
grep -q closed "$work/close.said" && fail "close(2) returned without the server"
kill -0 "${pids[0]}" || fail "who closes is gone"
control continue >/dev/null
expect_line "$work/close.said" closed
for how in close exit thread abort; do expect_line "$export/$how" "$text"; done

# A write that fails after its caller has left is logged, because no program can be told.
writer unlucky exit
control stop >/dev/null
echo >&"$to"
expect_gone "$pid" "a process that exits"
control fault nfsstat=NFS4ERR_IO:op=WRITE >/dev/null
control continue >/dev/null
expect_line "$work/mount0.log" "failed after its last flush"
control clear >/dev/null

# The files of a process share the time that it waits for the server: five seconds for each would be nearly two minutes.
cat >"$work/many.py" <<'P'
"""many.py DIRECTORY COUNT: writes to so many files once it hears a line, and exits without closing."""
import os, sys
files = [os.open(f"{sys.argv[1]}/many.{i}", os.O_CREAT | os.O_WRONLY) for i in range(int(sys.argv[2]))]
print("open", flush=True)
sys.stdin.readline()
for file in files:
    os.write(file, b"of many")
print("written", flush=True)
os._exit(0)
P
mkfifo "$work/many.go"
python3 "$work/many.py" "$mnt" 20 <"$work/many.go" >"$work/many.said" 2>&1 &
pid=$!
exec {to}>"$work/many.go"
wait_for "a process with many files" grep -q open "$work/many.said"
control stop >/dev/null
echo >&"$to"
wait_for "its writes" grep -q written "$work/many.said"
expect_gone $pid "a process that exits with many files"
control continue >/dev/null
for i in 0 10 19; do expect_line "$export/many.$i" "of many"; done

# A READ that is delayed for an hour, of a reader that does not wait for it.
head -c 1 "$mnt/read" >"$work/begin"
id=$(fault delay=3600000:op=READ:times=1)
tail -c 1 "$mnt/read" >"$work/read.out" 2>&1 &
pid=$!
expect_delayed "$id"
kill -KILL $pid
expect_gone $pid "a killed reader"
python3 -c 'import os, sys; os.close(os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC))' "$mnt/read" &
expect_gone $! "open(O_TRUNC) of what a killed reader was reading"
wait $! || fail "open(O_TRUNC)"
[ "$(stat -c %s "$export/read")" = 0 ] || fail "the file was not truncated"
echo new >"$mnt/read"
[ "$(cat "$mnt/read")" = new ] || fail "wrong data"
control clear >/dev/null
control disconnect >/dev/null
expect_alive
