#!/usr/bin/env bash
# record= and nfsrdma-lab rerun: a mount that was recorded gives the same messages when it is rerun, with delegations and
# recalls, broken connections and a second mount in its way; so does one whose daemon was killed, to its last moment. What is not as
# recorded is named. Only the last seconds can be kept. Requests can be left out, and shrink leaves out what is not needed.
. "$(dirname "$0")/lib.sh"
lab=$NFSRDMA_BIN/nfsrdma-lab
[ -x "$lab" ] || skip "no $lab"

# again FILE EXPECTED...: a rerun that says so.
again() {
  local file=$1 status=0
  "$lab" rerun "$file" >"$work/said" 2>&1 || status=$?
  same 0 $status "rerun of $file, which says $(head -c 3000 "$work/said")"
  grep -qE "$2" "$work/said" || fail "rerun of $file says $(head -c 3000 "$work/said")"
}

start_responder --delegations write --lease 10
mount_export "record=$work/first.rec"
same 600 "$(stat -c %a first.rec)" "mode of a recording"
mkdir "$mnt/d"
head -c 2500003 /dev/urandom >"$mnt/d/big"
cmp "$mnt/d/big" "$export/d/big"
echo hello >"$mnt/d/small"
ln -s target "$mnt/d/link"
cat "$mnt/d/small" "$mnt/d/link" >/dev/null 2>&1 || true
ls -lR "$mnt" >/dev/null
mv "$mnt/d/small" "$mnt/d/other"
chmod 600 "$mnt/d/other"
truncate -s 3 "$mnt/d/big"
exec 8>>"$mnt/d/big"
flock 8
echo more >&8
exec 8>&-
python3 -c "import os; os.close(os.open('$mnt/d/exclusive', os.O_CREAT | os.O_EXCL | os.O_WRONLY))"
rm "$mnt/d/link"
unmount_export
for _ in 1 2; do again first.rec '^[0-9]+ entries of [0-9.]+ s: the same$'; done

# Two mounts in each other's way, recalls, connections that break, a server that forgets.
mount_points=() mount_pids=()
second=$work/second
mount_export "record=$work/left.rec,acregmin=1,acregmax=1"
mount_export "record=$work/right.rec,acregmin=1,acregmax=1" "$second"
for i in 1 2 3 4 5 6; do
  echo "$i" >>"$mnt/d/shared"
  tail -n 1 "$second/d/shared" >/dev/null
  echo "$i" >>"$second/d/shared"
  tail -n 1 "$mnt/d/shared" >/dev/null
  cat "$mnt"/d/* >/dev/null 2>&1 &
  readers=$!
  cat "$second"/d/* >/dev/null 2>&1 &
  readers+=" $!"
  ls -l "$mnt/d" "$second/d" >/dev/null
  case $i in
    2) control disconnect >/dev/null ;;
    4) control reboot >/dev/null ;;
  esac
  # shellcheck disable=SC2086
  wait $readers || true  # ESTALE and the like are no matter here
done
unmount_export
unmount_export "$second"
for side in left right; do
  again $side.rec '^[0-9]+ entries of [0-9.]+ s: the same$'
  "$lab" rerun --list $side.rec
done >all
for what in 'answer to callback 1 of connection' 'connection down' 'NFS4ERR_BADSESSION'; do
  grep -q "$what" all || fail "the two mounts had no $what"
done

# A daemon that is killed, to its last moment; and only the last seconds.
mount_points=() mount_pids=()
mount_export "record=$work/killed.rec"
echo text >"$mnt/d/killed"
cat "$mnt/d/exclusive"
kill -KILL "${mount_pids[0]}"
wait "${mount_pids[0]}" 2>/dev/null || true
fusermount3 -uz "$mnt" || true
mount_points=() mount_pids=()
again killed.rec '^[0-9]+ entries of [0-9.]+ s: the same; the recording ends in the midst of the mount$'
mount_export "record=$work/last.rec,record_last=1"
for i in 1 2 3 4 5 6; do
  echo "$i" >"$mnt/d/last"
  sleep 0.5
done
unmount_export
mount_points=() mount_pids=()
[ -s last.rec.1 ] || fail "there is no last.rec.1"
"$lab" rerun --list last.rec >"$work/said" || fail "list of the last seconds: $(cat "$work/said")"
grep -q 'order of the daemon: stop' "$work/said" || fail "the last seconds have no end"
status=0
"$lab" rerun last.rec >"$work/said" 2>&1 || status=$?
same 2 $status "exit status of a rerun of the last seconds"
grep -q 'it begins in the midst of the mount (record_last=).*--list prints' "$work/said" || fail "it says $(cat "$work/said")"
status=0
"$lab" shrink last.rec >"$work/said" 2>&1 || status=$?
same 2 $status "exit status of shrink for the last seconds, which says $(cat "$work/said")"

# Another answer of the server than there was leads to something else, which is named.
python3 - first.rec changed.rec <<'PY'
import sys
data = open(sys.argv[1], 'rb').read()
at = data.rindex(b'hello\n')
open(sys.argv[2], 'wb').write(data[:at] + b'jello\n' + data[at + 6:])
PY
status=0
"$lab" rerun changed.rec >"$work/said" || status=$?
same 1 $status "status of a rerun with another byte in it"
grep -q '^entry [0-9]* of [0-9]*, after [0-9.]* s, is another:$' "$work/said" || fail "it says $(cat "$work/said")"

# Requests left out: what has to do with one file alone.
"$lab" rerun first.rec --list-requests >all
"$lab" rerun first.rec --requests all --print >whole
grep -q 'WRITE' whole || fail "all requests: $(head whole)"
head -n 3 all >few
"$lab" rerun first.rec --requests few --good "$lab" >"$work/said" || fail "the same program gives something else: $(cat "$work/said")"
# A program that gives out something else where the directory is made: of all that was asked only this is left.
cat >otherwise <<END
#!/bin/sh
"$lab" "\$@" | sed 's/mkdir of inode 1/rmdir of inode 1/'
END
chmod +x otherwise
"$lab" shrink first.rec --out least --good "$work/otherwise" >"$work/said" 2>&1 || fail "shrink: $(cat "$work/said")"
same 1 "$(wc -l <least)" "requests that are left, $(cat least)"
grep -q ': mkdir of inode 1 ' least || fail "what is left is $(cat least)"
status=0
"$lab" rerun first.rec --requests least --good "$work/otherwise" >"$work/said" || status=$?
same 1 $status "status of the least that differs"
grep -q '^  good: rmdir of inode 1$' "$work/said" || fail "it says $(cat "$work/said")"

# What is no recording, and what cannot be written.
for words in all "missing" "--nonsense" "first.rec --requests missing" "first.rec --print"; do
  status=0
  # shellcheck disable=SC2086
  "$lab" rerun $words >"$work/said" 2>&1 || status=$?
  same 2 $status "exit status of rerun $words"
done
ln -s first.rec symbolic
refused "symbolic link" "$NFSRDMA_BIN/nfsrdma" -f -o "proto=$NFSRDMA_PROTO,port=$port,record=$work/symbolic" 127.0.0.1:/ "$mnt"
refused "mount point" "$NFSRDMA_BIN/nfsrdma" -f -o "proto=$NFSRDMA_PROTO,port=$port,record=$mnt/file" 127.0.0.1:/ "$mnt"
