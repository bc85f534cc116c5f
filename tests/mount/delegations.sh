#!/usr/bin/env bash
# Delegations between two mounts: while one is held, opening, closing and asking for attributes costs
# no request; a conflicting open makes the client return it, and sees all that was written under it.
counts_caches=yes
. "$(dirname "$0")/lib.sh"
start_responder --delegations write
echo content >"$export/read"
mount_export acregmin=0,acregmax=0  # without a delegation no attribute is believed
mount_export "" "$work/mnt2"
other=$work/mnt2

# requests command...: how many requests the first mount sends for it.
requests() {
  local before after
  before=$(counter session_requests)
  "$@" >/dev/null
  after=$(counter session_requests)
  echo $((after - before))
}
# The renewal of the lease may cost some of their own.
few() { [ "$1" -le 3 ] || fail "$2: $1 requests"; }

open_often() { for _ in $(seq 50); do cat "$mnt/$1"; done; }

cat "$mnt/read" >/dev/null
same 1 "$(counter delegations)" "a delegation after the first open"
few "$(requests open_often read)" "50 opens of a file that is held"
few "$(requests stat "$mnt/read")" "attributes of a file that is held"

# Another client changes it.
echo changed >"$other/read"
same changed "$(cat "$mnt/read")" "written elsewhere while it was held"
[ "$(counter delegations_recalled)" -ge 1 ] || fail "nothing was recalled"
[ "$(counter delegations_returned)" -ge 1 ] || fail "nothing was returned"

# Written under a write delegation, seen elsewhere: also what is only gathered yet.
exec 6>"$mnt/written"
printf 'first ' >&6
printf 'second' >&6
same "first second" "$(cat "$other/written")" "written and still open here"
printf ' third' >&6
exec 6>&-
same "first second third" "$(cat "$other/written")" "written after the return"
same "first second third" "$(cat "$mnt/written")" "and here"

# The size another client is told is that of the writer (CB_GETATTR).
exec 7>"$mnt/grows"
printf '0123456789' >&7
same 10 "$(stat -c %s "$other/grows")" "the size of a file that is being written elsewhere"
exec 7>&-

# Names: removed, renamed over and linked from both sides while held.
for name in a b c d; do echo $name >"$mnt/$name"; cat "$mnt/$name" >/dev/null; done
rm "$other/a"
[ ! -e "$mnt/a" ] || wait_for "the removal" sh -c "[ ! -e '$mnt/a' ]"
mv "$other/b" "$other/c"
wait_for "the renamed file" sh -c "[ \"\$(cat '$mnt/c')\" = b ]"
rm "$mnt/d"
[ ! -e "$export/d" ] || fail "a removed file is there"
chmod 600 "$other/c"
wait_for "the mode" sh -c "[ \"\$(stat -c %a '$mnt/c')\" = 600 ]"
truncate -s 1 "$mnt/c"
same b "$(cat "$other/c")" "truncated under a delegation"

# With O_DIRECT, and with noac, none is asked for.
head -c 4096 /dev/zero >"$export/direct"
granted=$(counter delegations_granted)
same 4096 "$(dd if="$mnt/direct" iflag=direct bs=4096 status=none | wc -c)" "read with O_DIRECT"
same "$granted" "$(counter delegations_granted)" "delegations with O_DIRECT"
third=$work/mnt3
mount_export noac "$third"
same 4096 "$(wc -c <"$third/direct")" "read with noac"
same 0 "$(counter delegations_granted 2)" "delegations with noac"
unmount_export "$third"

# Everything at once asked back; all goes on.
exec 8<"$mnt/read"
same ok "$(control recall | cut -d' ' -f1)" "recall"
wait_for "the returns" sh -c "[ \"$(counter delegations)\" -le 1 ]"
same changed "$(cat <&8)" "read after the recall"
exec 8<&-
unmount_export
unmount_export "$other"
rm -f "$work/responder.stats"
kill -USR1 "$responder_pid"
wait_for "the responder's counters" grep -q '^nfs.delegation_holders_asked' "$work/responder.stats"
same 0 "$(sed -n 's/^nfs.delegations //p' "$work/responder.stats")" "delegations after the unmount"
same 0 "$(sed -n 's/^nfs.delegations_revoked //p' "$work/responder.stats")" "revoked"
