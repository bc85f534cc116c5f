#!/usr/bin/env bash
# The same work on a mount and on a local file system, compared: workload.sh DIR REFERENCE_DIR
#
# DIR is an empty directory of the mount, REFERENCE_DIR an empty local one. Every step runs in both; what
# they print (errors, too) and the trees they leave (names, kinds, modes, owners, sizes, links, times that
# were set, contents) must be equal. Each step and its seconds are printed. Both are left empty.
#
# Environment: NFSRDMA_ENTRIES  of the big directory (10000)
#              NFSRDMA_BYTES    of the large file (268435456)
#              NFSRDMA_MANY     a directory of the mount in which the server has made the entries of the
#                               big directory: where creating them through the client would take minutes
#              NFSRDMA_LARGEST  bytes a file of the server can have (default: more than 5 GB)
#              NFSRDMA_IGNORE   what the server is known to do otherwise: link_sizes, atime_alone, regrown
#              NFSRDMA_SIZES    a file for both sizes, for the table of the matrix
#              NFSRDMA_TREE     the tree that is copied both ways (/usr/include/c++ or /usr/share/doc)
set -euo pipefail
export LC_ALL=C
dir=$(cd "$1" && pwd) reference=$(cd "$2" && pwd)
entries=${NFSRDMA_ENTRIES:-10000}
bytes=${NFSRDMA_BYTES:-268435456}
largest=${NFSRDMA_LARGEST:-6000000000}
tree=${NFSRDMA_TREE:-/usr/include/c++}
[ -d "$tree" ] || tree=/usr/share/doc
outputs=$(mktemp -d)
trap 'rm -rf "$outputs"' EXIT

fail() { echo "FAILED: workload: $*" >&2; exit 1; }

ignored() { case " ${NFSRDMA_IGNORE:-} " in *" $1 "*) ;; *) return 1 ;; esac }

# Directories have the sizes, link counts and times that their file system gives them.
list() {
  local link='%p %y %m %U %G %s %n %l\n'
  if ignored link_sizes; then link=${link/ %s/}; fi
  (cd "$1" && find . -mindepth 1 \( -type d -printf '%p d %m %U %G\n' -o \
    -type l -printf "$link" -o -printf '%p %y %m %U %G %s %n\n' \) | sort)
}
contents() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0r sha256sum); }

# step NAME FUNCTION...: runs it in both directories and compares.
step() {
  local name=$1 start=$SECONDS where out status
  shift
  for where in "$reference" "$dir"; do
    [ "$where" = "$dir" ] && out=$outputs/mount || out=$outputs/local
    set +e  # in a condition, -e would not hold within the step
    (set -e; cd "$where"; "$@") >"$out" 2>&1
    status=$?
    set -e
    [ $status -eq 0 ] || { cat "$out" >&2; fail "$name in $where"; }
  done
  diff "$outputs/local" "$outputs/mount" >&2 || fail "$name: its output differs (< local, > mount)"
  diff <(list "$reference") <(list "$dir") >&2 || fail "$name: the trees differ (< local, > mount)"
  diff <(contents "$reference") <(contents "$dir") >&2 || fail "$name: contents differ"
  printf '  %-18s %4d s\n' "$name" $((SECONDS - start))
}

# say_error command...: the error it ends with, in the words of errno, or "ok".
say_error() {
  local said
  if said=$("$@" 2>&1); then echo "$1: ok"; else echo "$1: ${said##*: }"; fi
}

create() {
  echo one >file
  : >empty
  mkdir -p a/b
  echo two >a/b/two
  (umask 077; echo three >private; mkdir closed)
  (set -C; echo again >file) 2>/dev/null && echo "O_EXCL made what was there"
  mkfifo fifo
  say_error mkdir a
  say_error rmdir a
  say_error cat nothing
  say_error cat file/below
  say_error touch "$(printf 'n%.0s' $(seq 256))"
}
rename() {
  mv file renamed
  mv empty a/moved
  echo over >victim
  mv renamed victim
  mkdir d1 d2
  mv d1 d3
  mv -T d2 d3
  touch d3/full
  mkdir d4
  say_error mv -T d4 d3 | sed 's/File exists/Directory not empty/'  # POSIX allows both
  say_error mv a a/b/
  rmdir d4
}
unlink() {
  echo gone >gone
  exec 7<gone
  rm gone
  cat <&7
  exec 7<&-
  # What a client keeps for a file that is removed while it is open goes soon after the last close.
  for _ in $(seq 100); do
    ls -A | grep -q '^\.' || break
    sleep 0.1
  done
  ls -A | grep '^\.' || true
  say_error rm a
  say_error rm nothing
}
links() {
  ln -s /absolute/target abs
  ln -s a/../victim rel
  ln -s "$(printf 'long/%.0s' $(seq 200))" longlink
  ln victim hard
  ln victim a/hard2
  echo more >>a/hard2
  cat hard rel
  stat -c '%h %s' victim hard a/hard2
  rm hard
  stat -c '%h' victim
  say_error ln a cannot
  say_error ln -s x abs
  say_error readlink victim
}
attributes() {
  touch f
  for mode in 644 600 755 1777 444 0 640; do chmod $mode f; stat -c %a f; done
  if [ "$(id -u)" -eq 0 ]; then
    chown 1234:23456 f  # five digits: NFS-Ganesha 9.14 reads a byte behind a number that needs no padding
    stat -c '%u %g' f
    chgrp 99 f
    chown 0:0 f
  fi
  touch -d '2001-02-03 04:05:06.123456789 UTC' f
  stat -c '%.9Y %.9X' f
  touch -a -d '2010-01-01 00:00:00 UTC' f
  if ignored atime_alone; then stat -c '%.9X' f; else stat -c '%.9Y %.9X' f; fi
  touch -d '2100-01-01 00:00:00 UTC' f
  stat -c '%.9Y' f
  chmod 2755 a
  chmod 755 a
}
sizes() {
  head -c 100000 /dev/zero | tr '\0' x >sized
  truncate -s 65537 sized
  if ! ignored regrown; then truncate -s 200001 sized; fi
  truncate -s 0 empty2
  stat -c %s sized empty2
  for i in 1 2 3; do echo "line $i" >>appended; done
  cat appended
  dd if=/dev/zero of=sparse bs=1 count=1 seek=$((largest < 5000000000 ? largest - 1 : 5000000000)) \
    2>/dev/null
  printf here | dd of=sparse bs=1 seek=1000000 conv=notrunc 2>/dev/null
  stat -c %s sparse
  tail -c 3 sparse | od -c
  dd if=sparse bs=1 skip=999998 count=8 2>/dev/null | od -c
  rm sparse
}
names() {
  mkdir names
  touch "names/$(printf 'n%.0s' $(seq 255))" "names/ü-ß-日本語-🙂" 'names/with space' "names/tab	x" \
    'names/*?[x]' "names/quote'\"" 'names/-rf' 'names/back\slash' 'names/.hidden' "names/new
line"
  ls -A names | od -c
  local deep
  deep=deep$(printf '/directory-%d' $(seq 60))
  mkdir -p "$deep"
  echo bottom >"$deep/file"
  cat "$deep/file"
  (cd "$deep" && pwd -P | sed 's,.*/deep/,deep/,')
}
tree_in() { cp -a "$tree" tree && chmod -R u+w tree; }
tree_again() {
  cp -a tree tree2
  diff -r --no-dereference tree tree2
  tar -cf - tree | tar -C a -xf -
  rm -rf tree2
}
clean() { find . -mindepth 1 -delete; ls -A; }

# What is read back is compared with what went in, not with a second local copy of that size.
large_file() {
  local start=$SECONDS sum back
  head -c "$bytes" /dev/urandom >"$reference/large"
  sum=$(sha256sum <"$reference/large")
  cp "$reference/large" "$dir/large"
  back=$(dd if="$dir/large" iflag=direct bs=1M 2>/dev/null | sha256sum)
  [ "$sum" = "$back" ] || fail "large file: read back otherwise (O_DIRECT)"
  cp "$dir/large" "$reference/back"
  cmp "$reference/large" "$reference/back" || fail "large file: copied back otherwise"
  [ "$(stat -c %s "$dir/large")" = "$bytes" ] || fail "large file: its size"
  rm "$dir/large" "$reference/large" "$reference/back"
  printf '  %-18s %4d s\n' "large file" $((SECONDS - start))
}

# listed DIRECTORY COUNT: that many names, none of them twice.
listed() {
  ls -U "$1" | sort >"$outputs/names"
  [ "$(wc -l <"$outputs/names")" = "$2" ] || fail "big directory: $(wc -l <"$outputs/names") names, not $2"
  [ "$(uniq "$outputs/names" | wc -l)" = "$2" ] || fail "big directory: names twice"
}

# The server's own entries stay.
big_directory() {
  local start=$SECONDS big=$dir/big mine=$entries all=$entries
  if [ -n "${NFSRDMA_MANY:-}" ]; then
    big=$NFSRDMA_MANY mine=1000 all=$((entries + 1000))
  else
    mkdir "$big"
  fi
  (cd "$big" && seq -f 'made-here-with-a-longer-name-%07.0f' "$mine" | xargs touch)
  listed "$big" "$all"
  (cd "$big" && seq -f 'made-here-with-a-longer-name-%07.0f' 7 10 "$mine" | xargs rm)
  [ "$(find "$big" -type f -size 0 | wc -l)" = $((all - mine / 10)) ] ||
    fail "big directory: files, their attributes, what was removed"
  (cd "$big" && grep '^made-here' "$outputs/names" | grep -v '7$' | xargs rm)
  [ -n "${NFSRDMA_MANY:-}" ] || rmdir "$big"
  printf '  %-18s %4d s\n' "big directory" $((SECONDS - start))
}

[ -z "$(ls -A "$dir")$(ls -A "$reference")" ] || fail "both directories must be empty"
step "create" create
step "rename" rename
step "unlink" unlink
step "links" links
step "attributes" attributes
step "sizes" sizes
step "names, deep paths" names
step "tree in" tree_in
step "tree back" tree_again
step "remove" clean
large_file
big_directory
[ -z "$(ls -A "$dir")" ] || fail "something is left: $(ls -A "$dir")"
echo "$entries $bytes" >"${NFSRDMA_SIZES:-/dev/null}"
