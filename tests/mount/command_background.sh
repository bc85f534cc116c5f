#!/usr/bin/env bash
# In the background: exit 0 when the mount is live, nothing of the terminal kept, names shown as
# given, counters on USR1 and at the end, and the server told of the end.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
start_responder
echo served >"$export/served"
cd "$work"

# The command substitution ends only when no process holds its pipe any more.
said=$("$NFSRDMA_BIN/nfsrdma" -o "port=$port,stats=counters" 127.0.0.1:/ mnt 2>&1)
same "" "$said" "what a mount says"
same served "$(cat "$mnt/served")" "a file, at once"
same "127.0.0.1:/ fuse.nfsrdma" "$(findmnt -no SOURCE,FSTYPE "$mnt" | tr -s " ")" "the mount table"
same "127.0.0.1:/" "$(df --output=source "$mnt" | tail -n 1)" "df"
pid=$(daemon)
same / "$(readlink "/proc/$pid/cwd")" "the working directory of the program"
same /dev/null "$(readlink "/proc/$pid/fd/2")" "its standard error"
kill -USR1 "$pid"
wait_for "counters" grep -q '^fuse_requests_open ' "$work/counters"

fusermount3 -u "$mnt"
wait_for "the program's end" gone "$pid"
same 0 "$(sed -n 's/^fuse_unanswered //p' "$work/counters")" "requests without an answer"

# Before the command returns it says what has no effect though it may be counted on; with -v also with whom it speaks and how,
# which in a container without a system log stands nowhere else.
said=$("$NFSRDMA_BIN/nfsrdma" -o "port=$port,nconnect=8,fsc,nocto,resvport,noposix" 127.0.0.1:/ "$mnt" 2>&1)
same "nconnect fsc nocto resvport" "$(sed -n 's/^nfsrdma: \([a-z]*\) has no effect: .*/\1/p' <<<"$said" | paste -sd' ')" \
  "options that a mount says have no effect ($said)"
same 4 "$(wc -l <<<"$said")" "lines of a mount that may be slower than asked ($said)"
fusermount3 -u "$mnt"
said=$("$NFSRDMA_BIN/nfsrdma" -v -o "port=$port,noposix" 127.0.0.1:/ "$mnt" 2>&1)
for words in "noposix has no effect" "provider iwarp to 127.0.0.1:$port: " "connected: " "is mounted, by process [0-9]"; do
  grep -q "^nfsrdma: .*$words" <<<"$said" || fail "-v does not say '$words': $said"
done
fusermount3 -u "$mnt"
# Else the next one that is looked for may be found among those that are ending.
wait_for "the programs' end" no_daemon

# Started without standard descriptors: what the program opens does not take their place, which it gives up in the background.
"$NFSRDMA_BIN/nfsrdma" -o "port=$port" 127.0.0.1:/ "$mnt" <&- >&- 2>&-
same served "$(timeout 30 cat "$mnt/served")" "a file of a mount that was started without descriptors"
pid=$(daemon)
kill "$pid"
wait_for "the program's end, as told" gone "$pid"

# Names as given: commas and all.
"$NFSRDMA_BIN/nfsrdma" -o "port=$port,fsname=a\\,b,subtype=other" 127.0.0.1:/ "$mnt"
same "a,b fuse.other" "$(findmnt -no SOURCE,FSTYPE "$mnt" | tr -s " ")" "fsname and subtype"
fusermount3 -u "$mnt"

"$NFSRDMA_BIN/nfsrdma" -r -o "port=$port" 127.0.0.1:/ "$mnt"
same EROFS "$(errno_of "os.open('$mnt/new', os.O_CREAT | os.O_WRONLY)")" "a new file on a read-only mount"
fusermount3 -u "$mnt"
