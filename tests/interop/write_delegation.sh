#!/usr/bin/env bash
# Delegations for writing that knfsd (Linux 6.6 and later) grants to a mount: what is asked of the holder by
# CB_GETATTR, and recalled when another client opens the file; nothing that was written under one is lost.
# Usage: write_delegation.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
use_knfsd "$1" "$2"
there=/export$2
mount_second "$2"
mount_export

# knfsd grants none before it has tried the callback channel.
guest_run "echo warm >$there/warm"
is_granted_one() { cat "$mnt/warm" >/dev/null && [ "$(counter delegations_granted)" -gt 0 ]; }
wait_for "a delegation" is_granted_one

# is_for_writing: whether a delegation for $name covers another open for writing. Who alone has a file open for writing is given
# one for reading by knfsd of Linux 5.13 and later.
is_for_writing() {
  local before
  before=$(counter delegation_opens)
  : >>"$mnt/$name"
  [ "$(counter delegation_opens)" -gt "$before" ]
}

# hold: opens a new file for reading and writing, as descriptor 6, for which knfsd gives a delegation for writing;
# $name is its name. For a minute after a recall knfsd gives none for some other files, too, by a hash of the handle.
tries=20 opened=0
hold() {
  local granted
  for _ in $(seq $tries); do
    opened=$((opened + 1)) name=held$opened granted=$(counter delegations_granted)
    exec 6<>"$mnt/$name"
    [ "$(counter delegations_granted)" -eq "$granted" ] || ! is_for_writing || return 0
    exec 6>&-
  done
  skip "knfsd of Linux $(guest_run uname -r) grants no delegation for writing: NFSRDMA_GUEST=trixie-backports"
}

# What is only gathered yet counts.
hold
printf '0123456789' >&6
same 10 "$(guest_run "stat -c %s $second/$name")" "the size that another client is told"
printf 'abcde' >&6
same 15 "$(guest_run "stat -c %s $second/$name")" "and after it has grown"

recalled=$(counter delegations_recalled)
same 0123456789abcde "$(guest_run "cat $second/$name")" "what another client reads"
[ "$(counter delegations_recalled)" -gt "$recalled" ] || fail "nothing was recalled when another client opened the file"
printf 'XYZ' >&6
exec 6>&-
same 0123456789abcdeXYZ "$(guest_run "cat $second/$name")" "what was written after the recall"

# A program of the server.
hold
printf 'under the delegation' >&6
same "under the delegation" "$(guest_run "cat $there/$name")" "what a program of the server reads"
guest_run "echo ' and behind it' >>$there/$name"
exec 6>&-
same "under the delegation and behind it" "$(cat "$mnt/$name")" "what is read here"

# Both clients append in turns; each opens the file anew.
for turn in 1 2 3 4; do
  echo "here $turn" >>"$mnt/turns"
  guest_run "echo there $turn >>$second/turns"
done
same "$(for turn in 1 2 3 4; do printf 'here %s\nthere %s\n' $turn $turn; done)" "$(cat "$mnt/turns")" "lines of both"

# A lock that is held here alone becomes one of the server when it recalls.
mkfifo "$work/go"
python3 -c 'import fcntl, sys
with open(sys.argv[1], "w+b") as opened:
    opened.write(b"locked")
    opened.flush()
    fcntl.lockf(opened, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()' "$mnt/locked" <"$work/go" >"$work/said" &
holder=$!
exec 8>"$work/go"
wait_for "the lock" grep -q held "$work/said"
cat >"$guest_dir/share/try_lock.py" <<'PY'
# try_lock.py FILE [wait]: prints what the file holds once it is locked, or "locked elsewhere".
import fcntl, sys
with open(sys.argv[1], "r+b") as opened:
    try:
        fcntl.lockf(opened, fcntl.LOCK_EX | (0 if sys.argv[2:] else fcntl.LOCK_NB))
        print(opened.read().decode())
    except BlockingIOError:
        print("locked elsewhere")
PY
same "locked elsewhere" "$(guest_run "python3 /share/try_lock.py $there/locked")" "a lock that is held here, for a program of the server"
exec 8>&-
wait $holder
same locked "$(guest_run "timeout 60 python3 /share/try_lock.py $there/locked wait")" "the file once the lock is given back"

unmount_second
unmount_export
for counter in delegations_lost delegations reconnects; do
  same 0 "$(counter_at_end $counter)" "$counter"
done
