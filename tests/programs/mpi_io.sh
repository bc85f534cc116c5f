#!/usr/bin/env bash
# MPI-IO of mpich (ROMIO): two processes, each on a mount of its own, write and read one file in turns, with the file system's name before
# the path ("nfs:"), as nfsrdma-from-nfs(7) says; and both write parts of one file collectively.
. "$(dirname "$0")/lib.sh"
needs mpich mpiexec.mpich
needs libmpich-dev mpicc.mpich
cat >io.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kBlock = 4096, kRounds = 10 };

static int must(int status) {
  if (status != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  return status;
}

int main(int count, char **words) {
  int rank, old = 0;
  char block[kBlock];
  MPI_File file;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  must(MPI_File_open(MPI_COMM_SELF, words[1 + rank], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  for (int i = 0; i < kRounds; i++) {
    memset(block, 'a' + i, sizeof block);
    if (rank == 0) must(MPI_File_write_at(file, 0, block, kBlock, MPI_CHAR, MPI_STATUS_IGNORE));
    must(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_File_sync(file));
    if (rank == 1) {
      memset(block, 0, sizeof block);
      must(MPI_File_read_at(file, 0, block, kBlock, MPI_CHAR, MPI_STATUS_IGNORE));
      old += block[0] != 'a' + i || block[kBlock - 1] != 'a' + i;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // Blocks in turns: one of each process.
  for (int i = 0; i < kRounds; i++) {
    memset(block, 'A' + 2 * i + rank, sizeof block);
    must(MPI_File_write_at(file, (MPI_Offset)kBlock * (1 + 2 * i + rank), block, kBlock, MPI_CHAR, MPI_STATUS_IGNORE));
  }
  must(MPI_File_sync(file));
  must(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) printf("old %d\n", old);
  MPI_Finalize();
  return 0;
}
C
mpicc.mpich -o io io.c
start_responder
second=$work/second
mount_export
mount_export "" "$second"
said=$(HYDRA_LAUNCHER=fork timeout 120 mpiexec.mpich -n 2 ./io "nfs:$mnt/data" "nfs:$second/data")
same "old 0" "$said" "blocks that were old"
python3 - "$export/data" <<'PY'
import sys
data = open(sys.argv[1], "rb").read()
wanted = b"j" + bytes(range(ord("A"), ord("A") + 20))
assert data == b"".join(bytes([byte]) * 4096 for byte in wanted), len(data)
PY
