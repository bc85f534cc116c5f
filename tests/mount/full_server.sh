#!/usr/bin/env bash
# A full server: a program that looks at write(2) only, as the shell does, learns that its files are not written.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can mount a small file system to serve"
command -v unzip >/dev/null || skip "no unzip"
leave() {
  local status=$?
  # The responder has it open until it ends.
  umount -l "$export" 2>/dev/null || true
  clean_up $status
}
mount -t tmpfs -o size=1m,mode=1777 full "$export" || skip "cannot mount a tmpfs"
trap leave EXIT
start_responder
mount_export

fill() {
  head -c 2000000 /dev/zero >"$export/filler" 2>/dev/null && fail "the server is not full"
  return 0
}
# One file is lost before the mount knows. What was seen is counted, and nothing is timed: a refusal counts for seconds, and
# each of these writes renews it.
fill
seen=0
for i in $(seq 50); do
  { echo "important line $i" >"$mnt/f$i"; } 2>/dev/null || seen=$((seen + 1))
done
[ $seen -ge 49 ] || fail "50 files on a full server: the shell was not told of $((50 - seen))"
: >"$mnt/log"
seen=0
for _ in $(seq 20); do
  { echo line >>"$mnt/log"; } 2>/dev/null || seen=$((seen + 1))
done
[ $seen -ge 19 ] || fail "20 appends on a full server: the shell was not told of $((20 - seen))"

# When there is room again, the first write shows it, and writes are gathered again.
rm "$export/filler"
for i in $(seq 5); do echo "again $i" >"$mnt/g$i"; done
for i in $(seq 5); do same "again $i" "$(cat "$export/g$i")" "a file written with room"; done
before=$(counter cache_writes_gathered)
for i in $(seq 5); do echo "again $i" >"$mnt/h$i"; done
[ $(($(counter cache_writes_gathered) - before)) -eq 5 ] || fail "with room again writes are not gathered"

# An archiver that does not look at close(2).
mkdir "$work/tree"
for i in $(seq 200); do echo "file $i" >"$work/tree/$i"; done
(cd "$work" && python3 -m zipfile -c tree.zip tree)
fill
status=0
(cd "$mnt" && unzip -q "$work/tree.zip" </dev/null >/dev/null 2>&1) || status=$?
[ $status -ne 0 ] || fail "unzip on a full server was not told"
