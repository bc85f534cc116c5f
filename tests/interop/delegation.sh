#!/usr/bin/env bash
# Delegations that knfsd grants to a mount, and recalls (CB_RECALL) when another client wants the file:
# a program of the server, its kernel as another NFS client. What waits goes on, nothing is lost,
# and both sides see what the other wrote. knfsd of Linux 6.1 grants delegations for reading.
# Usage: delegation.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
use_knfsd "$1" "$2"
there=/export$2
guest_run "for n in 1 2 3 4 5; do echo one >$there/deleg\$n; done"
mount_second "$2"
mount_export

# hold N: knfsd gives a delegation for delegN, and opening it again costs nothing.
held=0
hold() {
  same one "$(cat "$mnt/deleg$1")" "deleg$1"
  held=$((held + 1))
  same $held "$(counter delegations_granted)" "delegations granted with deleg$1"
  local before
  before=$(counter delegation_opens)
  same one "$(cat "$mnt/deleg$1")" "deleg$1 again"
  same $((before + 1)) "$(counter delegation_opens)" "opens that a delegation covers"
}
recalled=0
was_recalled() {
  recalled=$((recalled + 1))
  same $recalled "$(counter delegations_recalled)" "delegations recalled"
}
both() {
  same "$2" "$(paste -sd' ' "$mnt/deleg$1")" "deleg$1 here"
  same "$2" "$(guest_run "paste -sd' ' $there/deleg$1")" "deleg$1 at the server"
}

hold 1
guest_run "echo two >>$there/deleg1"  # a program of the server
was_recalled
both 1 "one two"

hold 2
guest_run "echo two >>$second/deleg2; cat $second/deleg2" >/dev/null  # another client
was_recalled
both 2 "one two"
echo three >>"$mnt/deleg2"
both 2 "one two three"
same "one two three" "$(guest_run "paste -sd' ' $second/deleg2")" "deleg2 at the other client"

hold 3
echo two >>"$mnt/deleg3"  # given back by itself
same "one two" "$(guest_run "paste -sd' ' $second/deleg3")" "deleg3 at the other client"
same $recalled "$(counter delegations_recalled)" "delegations recalled by an own change"

hold 4
guest_run "mv $there/deleg4 $there/moved; rm $there/moved"
was_recalled
wait_for "the removal" sh -c "[ ! -e '$mnt/deleg4' ]"

hold 5
unmount_second
unmount_export
same 1 "$(guest_run "echo two >>$there/deleg5; grep -c two $there/deleg5")" "a file whose delegation went with its client"
for counter in delegations_lost delegations reconnects; do
  same 0 "$(counter_at_end $counter)" "$counter"
done
