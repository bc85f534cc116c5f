#!/usr/bin/env bash
# Attributes that the kernel has to know are the server's, also while those before are still remembered: for statx(2) with
# AT_STATX_FORCE_SYNC, and when the mode that is remembered forbids something. No other call asks more often for that.
. "$(dirname "$0")/lib.sh"
start_responder
options=actimeo=600
if [ "$(id -u)" -eq 0 ]; then options+=,allow_other; fi
mount_export "$options"
size() { stat --cached="$1" -c %s "$mnt/f"; }

# forced STRING: another client's change is seen by who insists, at once; then by all.
echo 12345 >"$mnt/f"
same 6 "$(size default)" "size"
forced() {
  printf %s "$1" >"$export/f"
  same "${#1}" "$(size never)" "size by statx with AT_STATX_FORCE_SYNC"
  same "${#1}" "$(size default)" "size afterwards"
}
forced 1234567890
forced 123
cat "$mnt/f" >read.txt
same 123 "$(cat read.txt)" "content"
same 3 "$(size always)" "size that was remembered"
mkdir "$mnt/d"
stat "$mnt/d" >stat.txt
chmod 750 "$export/d"
same 750 "$(stat --cached=never -c %a "$mnt/d")" "mode of a directory by AT_STATX_FORCE_SYNC"

# Ordinary calls: nothing is asked that was not asked before.
ls -l "$mnt" >ls.txt
before=$(served GETATTR)
for _ in 1 2 3; do
  stat "$mnt/f" "$mnt/d" >stat.txt
  ls -l "$mnt/d" >ls.txt
done
opens=$(served OPEN)
for _ in 1 2 3; do cat "$mnt/f" >read.txt; done
stat "$mnt/f" >stat.txt
asked=$(($(served GETATTR) - before - ($(served OPEN) - opens)))
# With each READDIR a GETATTR of the directory goes.
[ "$asked" -le 6 ] || fail "$asked GETATTRs for calls that need none"

[ "$(id -u)" -eq 0 ] || exit 0
# Another user, whom the mode forbids it.
chmod 755 "$work"
as_other() { setpriv --reuid 65533 --regid 65533 --clear-groups "$@"; }
echo data >"$mnt/p"
chmod 600 "$mnt/p"
chmod 700 "$mnt/d"
echo inside >"$mnt/d/file"
refused "Permission denied" as_other cat "$mnt/p"
refused "Permission denied" as_other cat "$mnt/d/file"
chmod 644 "$export/p"
chmod 755 "$export/d"
same data "$(as_other cat "$mnt/p")" "a file after another client's chmod"
same inside "$(as_other cat "$mnt/d/file")" "a file in a directory after another client's chmod"
