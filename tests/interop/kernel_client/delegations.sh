#!/usr/bin/env bash
# Delegations that the responder grants to the kernel's client in the guest, for reading and for writing, and recalls: when nfsrdma
# on this machine wants the file, by order, and while the connection is broken. CB_GETATTR tells of what is not written yet.
# Usage: delegations.sh siw|tcp
. "$(dirname "$0")/lib.sh"
serve_kernel "$1" --delegations write --lease 10
for name in a b c d; do echo one >"$export/$name"; done
for i in $(seq 20); do echo $i >"$export/many$i"; done
mount_kernel "$kernel_port" acregmin=0,acregmax=0,acdirmin=0,acdirmax=0
mount_export noac  # the other client: it asks for no delegation itself

delegations() { server_counter "nfs.delegations_$1"; }
# hold NAME: the kernel's client has it open until $jobs/NAME.go is there.
hold() { launch "$1" "exec 6<$1; cat <&6; while [ ! -e /share/kernel/$1.go ]; do sleep 0.1; done; cat $1"; }
let_go() { touch "$jobs/$1.go"; await "$1"; }

# For reading: an open of a file that is held costs nothing; who writes it gets it.
in_mount "cat a" >/dev/null
same 1 "$(delegations granted)" "delegations for the first open"
opens=$(served OPEN)
in_mount "cat a; cat a" >/dev/null
same "$opens" "$(served OPEN)" "opens of a file that is held"
echo two >>"$mnt/a"
same 1 "$(delegations recalled)" "recalls because another client writes"
same "one two" "$(in_mount cat a | paste -sd' ')" "what the other client wrote"

# For writing: what is not at the server yet is told by CB_GETATTR, and written before the delegation comes back.
launch writer "exec 6>written; printf 0123456789 >&6; touch /share/kernel/wrote
  while [ ! -e /share/kernel/writer.go ]; do sleep 0.1; done; printf more >&6"
wait_for "the write" test -e "$jobs/wrote"
same 10 "$(stat -c %s "$mnt/written")" "the size of a file that is being written"
same 0123456789 "$(cat "$mnt/written")" "what was read there"
let_go writer
same 0123456789more "$(cat "$mnt/written")" "what was written after the recall"

# A file that is open under a delegation loses it, and stays open.
hold b
wait_for "the open" grep -q one "$jobs/b.out"
control recall >/dev/null
echo two >>"$mnt/b"
let_go b
same "one one two" "$(paste -sd' ' "$jobs/b.out")" "the open file"

# Removed and renamed over by the other client, while held.
in_mount "cat c d" >/dev/null
rm "$mnt/c"
mv "$mnt/a" "$mnt/d"
same "one two" "$(in_mount "[ ! -e c ]; cat d" | paste -sd' ')" "after rm and mv of the other client"

# Many at once, and some only (CB_RECALL_ANY).
in_mount "cat many*" >/dev/null
recalled=$(delegations recalled)
control recall >/dev/null
returned() { [ "$(delegations returned)" -ge "$1" ]; }
wait_for "their return" returned $((recalled + 20))
same "$(seq 20 | paste -sd' ')" "$(in_mount 'for i in $(seq 20); do cat many$i; done' | paste -sd' ')" "their content"

# The recall finds no connection: it is heard when the client has renewed its lease.
in_mount "cat many1" >/dev/null
granted=$(delegations granted)
control disconnect >/dev/null
echo changed >"$mnt/many1"
same changed "$(in_mount cat many1)" "what was written after a recall without a connection"
[ "$granted" -gt 20 ] || fail "only $granted delegations were granted"

same 0 "$(delegations revoked)" "delegations that were revoked"
unmount_kernel || fail "the guest does not unmount"
