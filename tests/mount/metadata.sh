#!/usr/bin/env bash
# Permissions, owners and times are set and shown as on a local file system.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

touch "$mnt/f"
for mode in 644 600 755 4755 2755 1777 0; do
  chmod $mode "$mnt/f"
  same $mode "$(stat -c %a "$mnt/f")" "mode"
  same $mode "$(stat -c %a "$export/f")" "mode at the server"
done
chmod 644 "$mnt/f"

touch -d '2001-02-03 04:05:06.789012345 UTC' "$mnt/f"
same "$(stat -c '%x %y' "$export/f")" "$(stat -c '%x %y' "$mnt/f")" "times"
same 981173106.789012345 "$(stat -c %.9Y "$mnt/f")" "mtime to the nanosecond"
touch -a -d '1969-12-31 23:00:00 UTC' "$mnt/f"
same -3600 "$(stat -c %X "$mnt/f")" "a time before 1970"
same 981173106 "$(stat -c %Y "$mnt/f")" "mtime, when only atime is set"
before=$(stat -c %Z "$mnt/f")
touch "$mnt/f"
[ "$(stat -c %Y "$mnt/f")" -gt 981173106 ] || fail "touch does not set the present time"
[ "$(stat -c %Z "$mnt/f")" -ge "$before" ] || fail "ctime went back"

if [ "$(id -u)" -eq 0 ]; then
  chown 123:456 "$mnt/f"
  same "123 456" "$(stat -c '%u %g' "$mnt/f")" "owner"
  same "123 456" "$(stat -c '%u %g' "$export/f")" "owner at the server"
  chgrp 789 "$mnt/f"
  same "123 789" "$(stat -c '%u %g' "$mnt/f")" "group"
else
  refused "not permitted" chown 0 "$mnt/f"
  chmod 0 "$mnt/f"
  refused "Permission denied" cat "$mnt/f"
fi

(umask 027 && touch "$mnt/masked" && mkdir "$mnt/masked.d")
same 640 "$(stat -c %a "$mnt/masked")" "umask of a file"
same 750 "$(stat -c %a "$mnt/masked.d")" "umask of a directory"
same 2 "$(stat -c %h "$mnt/masked.d")" "links of a directory"

# A file made unwritable for others can still be written through the descriptor that made it.
python3 - "$mnt/readonly" <<'PY'
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o444)
assert os.write(fd, b"through the descriptor") == 22
os.fsync(fd)
os.ftruncate(fd, 7)
os.close(fd)
assert open(sys.argv[1], "rb").read() == b"through"
PY
