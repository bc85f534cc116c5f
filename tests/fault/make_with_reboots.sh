#!/usr/bin/env bash
# The server reboots ten times, with a grace period, while make -j4 builds a program on the mount:
# what comes out is byte for byte what a build without reboots gives.
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null && command -v make >/dev/null || skip "no compiler"
units=60
reboots=10
start_responder --lease 10
mount_export
mkdir "$work/local" "$mnt/project"

# write_project DIR: units that use each other, a generated header, a library in two steps.
write_project() {
  local i j
  for i in $(seq $units); do
    {
      echo '#include "all.h"'
      echo "static const unsigned table[] = {"
      for j in $(seq 200); do echo "  ${i}u * ${j}u + VERSION,"; done
      echo "};"
      echo "unsigned unit_$i(unsigned x) {"
      echo "  for (unsigned j = 0; j < 200; ++j) x = x * 33u + table[(x + j) % 200];"
      echo "  return x + unit_$((i > 1 ? i - 1 : units))_inline(x);"
      echo "}"
    } >"$1/unit_$i.c"
  done
  {
    echo "#include <stdio.h>"
    echo '#include "all.h"'
    echo "int main(void) { unsigned x = 1;"
    for i in $(seq $units); do echo "  x = unit_$i(x);"; done
    echo '  printf("%u\n", x); return 0; }'
  } >"$1/main.c"
  cat >"$1/Makefile" <<'MAKE'
CFLAGS = -O2 -frandom-seed=project -Wdate-time -Werror
units := $(patsubst %.c,%.o,$(wildcard unit_*.c))
objects := $(sort $(units) main.o)
program: main.o libunits.a
	$(CC) -Wl,--build-id=none -o $@ main.o libunits.a
libunits.a: $(sort $(units))
	rm -f $@ && $(AR) Dcrs $@ $(sort $(units))
$(objects): all.h
all.h: generate.sh
	sh ./generate.sh $(words $(units)) >$@.new && mv $@.new $@
MAKE
  cat >"$1/generate.sh" <<'SH'
echo "#define VERSION 7u"
for i in $(seq "$1"); do
  echo "unsigned unit_$i(unsigned x);"
  echo "static inline unsigned unit_${i}_inline(unsigned x) { return x ^ ${i}u; }"
done
SH
}

# Progress is what the compiler has finished, as seen at the server.
objects() { find "$export/project" -name '*.o' -size +0 | wc -l; }

write_project "$work/local"
make -s -j4 -C "$work/local" program
write_project "$mnt/project"

make -s -j4 -C "$mnt/project" program >"$work/make.log" 2>&1 &
make_pid=$!
for round in $(seq $reboots); do
  # One in each tenth of the build; the last ones meet ar and the linker.
  due=$((round * (units + 1) / (reboots + 1)))
  while [ "$(objects)" -lt "$due" ]; do
    kill -0 "$make_pid" 2>/dev/null || { cat "$work/make.log"; fail "make ended before reboot $round"; }
    sleep 0.02
  done
  control reboot 1 >/dev/null
done
wait "$make_pid" || { cat "$work/make.log"; fail "make failed"; }
[ "$(server_counter nfs.restarts)" -eq $reboots ] || fail "$(server_counter nfs.restarts) reboots instead of $reboots"

cmp_trees() {
  local file
  for file in "$work"/local/*; do
    cmp "$file" "$1/$(basename "$file")" || fail "$(basename "$file") differs in $1"
  done
  [ "$(ls -A "$work/local")" = "$(ls -A "$1")" ] || fail "other files in $1: $(ls -A "$1")"
}
cmp_trees "$mnt/project"
cmp_trees "$export/project"
[ "$("$mnt/project/program")" = "$("$work/local/program")" ] || fail "the program says something else"
# Nothing is made again: the times are right, too.
make -s -q -C "$mnt/project" program || fail "make wants to build again"
expect_alive
