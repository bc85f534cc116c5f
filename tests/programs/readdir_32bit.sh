#!/usr/bin/env bash
# A 32-bit program without large-file support lists a directory, goes back to a place of it, and stats small files.
. "$(dirname "$0")/lib.sh"
needs gcc gcc
cat >list.c <<'C'
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
  DIR *directory = opendir(words[1]);
  int names = 0, again = 0;
  long place = 0;
  if (!directory || count != 2) return perror("opendir"), 1;
  for (errno = 0; readdir(directory); errno = 0)
    if (++names == 20) place = telldir(directory);
  if (errno) return perror("readdir"), 1;
  for (seekdir(directory, place), errno = 0; readdir(directory); errno = 0) ++again;
  if (errno) return perror("readdir after seekdir"), 1;
  printf("%d %d\n", names, again);
  return 0;
}
C
gcc -m32 -o list list.c 2>/dev/null || skip "no gcc -m32 (Debian packages gcc-multilib, libc6-dev-i386)"
mkdir "$export/directory"
for i in $(seq 300); do : >"$export/directory/file-$i"; done
same "302 282" "$(./list "$export/directory")" "a local directory"
start_responder
mount_export
same "302 282" "$(./list "$mnt/directory" 2>&1)" "names, and those after the twentieth"
