#!/usr/bin/env bash
# tar and unzip: a tree with links, holes, modes and times comes back as it was. On a full server each of them says that it failed, and what
# it says that it has written is there.
. "$(dirname "$0")/lib.sh"
needs tar tar
needs zip zip
needs unzip unzip
start_responder
mount_export

tree=$work/tree
mkdir -p "$tree/directory/below"
for i in $(seq 200); do head -c $((i * 97)) /dev/urandom >"$tree/directory/below/file$i"; done
truncate -s 3M "$tree/hole"
printf end >>"$tree/hole"
ln "$tree/directory/below/file1" "$tree/hard"
ln -s directory/below/file2 "$tree/soft"
chmod 751 "$tree/directory"
touch -d 2001-02-03T04:05:06.789 "$tree/directory/below/file3"
look() { (cd "$1" && find . -printf '%p %y %m %s %n %T@ %l\n' | grep -v '^\. ' | sed -E 's/^(\S+ d \S+) \S+ \S+/\1/' | sort); }

tar -C "$tree" --format=posix --sparse -cf "$mnt/tree.tar" .
mkdir "$mnt/tar"
tar -C "$mnt/tar" -xpf "$mnt/tree.tar"
diff -r "$tree" "$mnt/tar"
diff <(look "$tree") <(look "$mnt/tar") || fail "what tar has made"
tar -C "$mnt/tar" -df "$mnt/tree.tar" || fail "tar --diff"
(cd "$tree" && zip -qry "$mnt/tree.zip" .)
unzip -qt "$mnt/tree.zip" >said.out || fail "unzip -t: $(cat said.out)"
mkdir "$mnt/zip"
(cd "$mnt/zip" && unzip -q "$mnt/tree.zip")
diff -r "$tree" "$mnt/zip"

# A server without room: a file system of its own, which only root can make.
[ "$(id -u)" -eq 0 ] || skip "only root can make a small file system: the full server was not tried"
unmount_export
kill $responder_pid && wait $responder_pid
mount -t tmpfs -o size=1m small "$export" || skip "no tmpfs: the full server was not tried"
trap 'status=$?; end_mounts || status=1; [ -z "$responder_pid" ] || { kill $responder_pid; wait $responder_pid || true; responder_pid=; }
  umount "$export" || umount -l "$export"; end_services; clean_up $status' EXIT
start_responder
mount_export
tar -C "$tree" -cf tree.tar .
(cd "$tree" && zip -qry "$work/tree.zip" .)
# full NAME command...: it fails, and says why.
full() {
  local name=$1 status=0
  shift
  mkdir "$mnt/$name"
  (cd "$mnt/$name" && "$@") >"$name.said" 2>&1 || status=$?
  [ $status -ne 0 ] || fail "$name on a full server ends with 0"
  grep -qiE 'no space left|disk full|write error' "$name.said" || fail "$name on a full server: $(tail -n 3 "$name.said")"
  rm -rf "${mnt:?}/$name"
}
full tar tar -xf "$work/tree.tar"
full unzip sh -c 'unzip -q "$1" </dev/null' - "$work/tree.zip"
# And when there is room again all is as before.
mkdir "$mnt/again"
tar -C "$mnt/again" -xf "$work/tree.tar" ./directory/below/file1 ./directory/below/file2
cmp "$tree/directory/below/file2" "$mnt/again/directory/below/file2"
