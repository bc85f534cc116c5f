#!/usr/bin/env bash
# relay_test.sh [option of bench-relay mount...]: what is written through the relay is in the server's files, and the other
# way round.
. "$(dirname "$0")/../../mount/lib.sh"
case " $* " in *" --ring "*) offer_io_uring ;; esac

serving=()
case " $* " in *" --segments "*) serving=(--segments) ;; esac
case " $* " in *" --nfs "*) serving+=(--nfs) ;; esac
"$NFSRDMA_BIN/bench-relay" serve "${serving[@]}" "$export" >"$work/responder.out" 2>"$work/responder.log" &
server_pid=$!
trap 'kill $server_pid; clean_up' EXIT
wait_for "the server" grep -q '^listening on' "$work/responder.out"
"$NFSRDMA_BIN/bench-relay" mount "$@" "$(port_of "listening on")" "$mnt" >"$work/mount0.log" 2>&1 &
mount_pids[0]=$!
mount_points[0]=$mnt
wait_for "the mount" mountpoint -q "$mnt"

head -c 8M /dev/urandom >"$export/served"
cmp "$export/served" "$mnt/served"
for size in 4K 64K 1M; do
  dd if="$mnt/served" bs=$size iflag=direct status=none | cmp - "$export/served"
  dd if="$export/served" of="$mnt/direct$size" bs=$size oflag=direct status=none
  cmp "$export/served" "$export/direct$size"
  dd if="$export/served" of="$mnt/buffered$size" bs=$size conv=fsync status=none
  cmp "$export/served" "$export/buffered$size"
done
# Into the middle, across pages.
for at in "$mnt/served" "$export/direct4K"; do
  dd if="$export/buffered4K" of="$at" bs=5000 seek=100 count=9 conv=notrunc status=none
done
cmp "$export/served" "$export/direct4K"

# Many at once, each block with its own bytes; the length is no multiple of a block.
head -c 3000001 /dev/urandom >"$export/odd"
for i in 1 2 3 4 5 6 7 8; do cp "$mnt/odd" "$mnt/odd$i" & copies[i]=$!; done
wait "${copies[@]}"
for i in 1 2 3 4 5 6 7 8; do cmp "$export/odd" "$export/odd$i"; done

mkdir "$mnt/names"
for i in $(seq 300); do echo "$i" >"$mnt/names/$i"; done
same 300 "$(ls "$mnt/names" | wc -l)" "entries of the folder"
same 300 "$(cat "$mnt"/names/* | sort -u | wc -l)" "contents"
echo more >>"$mnt/names/7"
same "7 more" "$(echo $(cat "$mnt/names/7"))" "what was appended"
: >"$mnt/names/7"
same 0 "$(stat -c %s "$export/names/7")" "the length of an emptied file"
same ENOENT "$(errno_of "os.open('$mnt/names/none', os.O_RDONLY)")" "a name that is not there"
same ENOTEMPTY "$(errno_of "os.rmdir('$mnt/names')")" "a folder with files"
rm -r "$mnt/names"
[ ! -e "$export/names" ] || fail "the folder is still there"
