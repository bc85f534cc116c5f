#!/usr/bin/env bash
# Hard links, symbolic links, fifos and sockets.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

echo data >"$mnt/a"
ln "$mnt/a" "$mnt/b"
same "2 $(stat -c %i "$mnt/a")" "$(stat -c '%h %i' "$mnt/b")" "hard link"
echo more >>"$mnt/b"
same $'data\nmore' "$(cat "$mnt/a")" "the other name"
rm "$mnt/a"
same 1 "$(stat -c %h "$mnt/b")" "links after removing one"
refused "File exists" ln "$mnt/b" "$mnt/b"

ln -s b "$mnt/s"
same b "$(readlink "$mnt/s")" "symbolic link"
same $'data\nmore' "$(cat "$mnt/s")" "through a symbolic link"
same b "$(readlink "$export/s")" "symbolic link at the server"
long=$(printf 'x%.0s' $(seq 4000))
ln -s "$long" "$mnt/long"
same "$long" "$(readlink "$mnt/long")" "a target of 4000 bytes"
same 4000 "$(stat -c %s "$mnt/long")" "its size"
ln -s nothing "$mnt/dangling"
refused "No such file" cat "$mnt/dangling"
[ -L "$mnt/dangling" ] || fail "a dangling link is no link"
ln -s loop "$mnt/loop"
refused "Too many levels" cat "$mnt/loop"

mkfifo "$mnt/fifo"
[ -p "$mnt/fifo" ] || fail "no fifo"
cat "$mnt/fifo" >"$work/from_fifo" &
reader=$!
echo through >"$mnt/fifo"
wait $reader
same through "$(cat "$work/from_fifo")" "through the fifo"
python3 -c "import socket, os; os.chdir('$mnt'); socket.socket(socket.AF_UNIX).bind('sock')"
[ -S "$mnt/sock" ] || fail "no socket"
if [ "$(id -u)" -eq 0 ]; then
  mknod "$mnt/null" c 1 3
  same "1 3" "$(stat -c '%t %T' "$mnt/null")" "device numbers"
fi
same "$(cd "$export" && find . -printf '%p %y\n' | sort)" \
  "$(cd "$mnt" && find . -printf '%p %y\n' | sort)" "types"
