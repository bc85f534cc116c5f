#!/usr/bin/env bash
# A file that grows by another client's writes while it is open here: once its new size is seen, so
# are the octets, also those in a page that was cached when the file ended in it.
. "$(dirname "$0")/lib.sh"
start_responder
printf 'one ' >"$export/f"
printf 'one ' >"$export/g"
mount_export acregmin=1,acregmax=1
mount_export "" "$work/mnt2"
other=$work/mnt2

has_size() { [ "$(stat -c %s "$1")" = "$2" ]; }

exec 5<"$mnt/f"
exec 6<"$mnt/g"
same 'one ' "$(cat <&5)" "before"
same 'one ' "$(cat <&6)" "before"
printf 'two ' >>"$other/f"
wait_for "the new size" has_size "$mnt/f" 8
same 'two ' "$(cat <&5)" "what another client has appended"
printf 'two ' >>"$export/g"
wait_for "the new size" has_size "$mnt/g" 8
same 'two ' "$(cat <&6)" "what a program of the server has appended"
exec 5<&- 6<&-
