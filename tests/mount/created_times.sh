#!/usr/bin/env bash
# A new object has the times of its creation, however it was made, also where the server keeps the
# verifier of an exclusive create in the times (RFC 8881 section 18.16.3).
. "$(dirname "$0")/lib.sh"
start_responder
mount_export
mkdir "$mnt/plain" "$mnt/verifier"
python3 "$here/created_times.py" "$mnt/plain"
unmount_export
kill "$responder_pid"
wait "$responder_pid" || true
start_responder --verifier-in-times
mount_export
python3 "$here/created_times.py" "$mnt/verifier"
for file in exclusive masked readonly; do
  same "$(stat -c '%X %Y' "$export/verifier/$file")" "$(stat -c '%X %Y' "$mnt/verifier/$file")" "times of $file at the server"
done
