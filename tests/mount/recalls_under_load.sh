#!/usr/bin/env bash
# Delegations are recalled again and again while programs work on the files: nothing is lost, nobody
# fails, and what one mount has written the other one reads.
. "$(dirname "$0")/lib.sh"
start_responder --delegations write
mount_export
mount_export "" "$work/mnt2"
other=$work/mnt2
echo shared >"$mnt/shared"

# work N: writes, appends, reads back, renames and truncates files of its own, and reads a shared one.
work_on() {
  local i file=$mnt/file$1
  for i in $(seq 30); do
    head -c $((i * 3001)) /dev/urandom >"$work/sent$1"
    cp "$work/sent$1" "$file"
    cmp "$work/sent$1" "$file" || return 1
    printf 'line %s\n' "$i" | tee -a "$work/sent$1" >>"$file"
    mv "$file" "$file.moved"
    [ "$(stat -c %s "$file.moved")" = "$(stat -c %s "$work/sent$1")" ] || return 1
    cmp "$work/sent$1" "$other/file$1.moved" || return 1
    truncate -s 1000 "$file.moved" "$work/sent$1"
    cmp "$work/sent$1" "$file.moved" || return 1
    mv "$file.moved" "$file"
    [ "$(cat "$mnt/shared")" = shared ] || return 1
  done
}

workers=()
for n in 1 2 3; do
  work_on $n >"$work/worker$n.log" 2>&1 &
  workers+=($!)
done
recalls=0
while kill -0 "${workers[@]}" 2>/dev/null; do
  case $(control recall) in ok*) recalls=$((recalls + 1)) ;; *) fail "recall" ;; esac
done
for n in 1 2 3; do
  wait "${workers[$((n - 1))]}" || fail "worker $n: $(tail -n 3 "$work/worker$n.log")"
  cmp "$mnt/file$n" "$other/file$n"
  cmp "$mnt/file$n" "$export/file$n"
done
[ $recalls -gt 3 ] || fail "only $recalls recalls"
[ "$(counter delegations_returned)" -gt 3 ] || fail "nothing was returned"
same 0 "$(counter delegations_lost)" "delegations that were lost"
