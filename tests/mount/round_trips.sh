#!/usr/bin/env bash
# How many requests everyday operations cost. A program waits for each of them but CLOSE.
counts_caches=yes
. "$(dirname "$0")/lib.sh"
mkdir "$export/listed" "$export/read"
touch "$export/listed/"{a,b,c}
for i in 1 2 3; do head -c 4096 /dev/urandom >"$export/read/$i"; done
start_responder
mount_export actimeo=600

# expect REQUESTS CLOSES "what" command...: as the responder counts them. The lease is renewed by a SEQUENCE alone
# only when nothing else was sent for long.
expect() {
  local requests=$1 closes=$2 what=$3 closed found
  shift 3
  operations >before.txt
  closed=$(served CLOSE)
  "$@" || fail "$what: $*"
  closes_are() { [ "$(served CLOSE)" -eq $((closed + closes)) ]; }
  wait_for "$what: the CLOSE" closes_are
  operations >after.txt
  found=$(awk '$1 == "op_SEQUENCE" { found = $2 - found } END { print found }' before.txt after.txt)
  same "$requests" "$found" "requests: $what: $(diff before.txt after.txt)"
}
operations() { control stats | grep '^op_'; }
missing() { [ ! -e "$1" ]; }
create() { head -c 4096 /dev/zero >"$1"; }

ls -l "$mnt/listed" "$mnt/read" >/dev/null
expect 0 0 "stat after ls" stat -c %s "$mnt/listed/a" "$mnt/listed/b" "$mnt/read/1"
# What was listed or made here says only for a moment which names are not there.
expect 1 0 "a name that is not there, after ls" missing "$mnt/listed/missing"
expect 2 1 "open, read and close a file of 4 KiB" cmp -s "$export/read/1" "$mnt/read/1"
expect 2 1 "the same again: pages are kept, the open is asked for" cmp -s "$export/read/1" "$mnt/read/1"
expect 4 1 "create, write and close a file of 4 KiB" create "$mnt/listed/new"
expect 1 0 "remove" rm -f "$mnt/listed/a"
expect 2 0 "make a directory" mkdir "$mnt/listed/made"
expect 1 0 "a name that is not there, in a new directory" missing "$mnt/listed/made/missing"
expect 4 1 "create, write and close in it" create "$mnt/listed/made/new"
# mv tries RENAME_NOREPLACE first, and the kernel looks the new name up for each.
expect 3 0 "rename" mv -T "$mnt/listed/b" "$mnt/listed/renamed"

# A file that is open must not lose its last name: this name says that it is not that of one.
exec 9<"$mnt/read/1"
expect 1 0 "remove, while another file is open" rm -f "$mnt/read/2"
exec 9<&-

# Files that only their delegations keep open at the server.
unmount_export
kill "$responder_pid"
wait "$responder_pid" || true
start_responder --delegations read
mount_export actimeo=600
ls -l "$mnt/read" >/dev/null
expect 1 0 "open, read and close under a delegation" cmp -s "$export/read/1" "$mnt/read/1"
expect 0 0 "the same again" cmp -s "$export/read/1" "$mnt/read/1"
expect 2 1 "remove it: DELEGRETURN with CLOSE, REMOVE" rm -f "$mnt/read/1"
