#!/usr/bin/env bash
# ccache: compilers of two mounts share one cache on the server, at the same time; the second round is all hits, of the same bytes.
. "$(dirname "$0")/lib.sh"
needs ccache ccache
needs gcc gcc
start_responder
second=$work/second
mount_export
mount_export "" "$second"
export CCACHE_NOHASHDIR=1 CCACHE_CONFIGPATH=/dev/null
mkdir sources
for i in $(seq 12); do printf 'int f%d(int x) { return x * %d; }\n' "$i" "$i" >sources/f$i.c; done
# compile CACHE OBJECTS: each file, three at once.
compile() {
  mkdir -p "$2"
  for i in $(seq 12); do echo "$i"; done | CCACHE_DIR=$1 xargs -P 3 -I{} ccache gcc -c -o "$2/f{}.o" sources/f{}.c
}
compile "$mnt/cache" "$mnt/objects" &
one=$!
compile "$second/cache" "$work/objects" || fail "the second mount"
wait $one || fail "the first mount"
hits() { CCACHE_DIR=$second/cache ccache --print-stats | awk '$1 == "direct_cache_hit" || $1 == "preprocessed_cache_hit" { n += $2 } END { print n }'; }
before=$(hits)
compile "$second/cache" "$work/again"
same $((before + 12)) "$(hits)" "hits of the second round"
diff -r "$work/objects" "$work/again"
diff -r "$mnt/objects" "$work/again"
