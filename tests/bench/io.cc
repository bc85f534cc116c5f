// bench-io read|write FILE BLOCK OPERATIONS: direct I/O of whole blocks, one at a time, wrapping
// around the file. Prints latencies and the rate (sample.h).
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/bench/sample.h"

namespace {

constexpr std::size_t kAlignment = 4096;

int fail(const char* what) {
  std::fprintf(stderr, "bench-io: %s: %s\n", what, std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: bench-io read|write FILE BLOCK OPERATIONS\n");
    return 1;
  }
  const bool writing = std::strcmp(argv[1], "write") == 0;
  const std::size_t block = std::strtoul(argv[3], nullptr, 10);
  const std::size_t operations = std::strtoul(argv[4], nullptr, 10);

  const int fd = ::open(argv[2], (writing ? O_WRONLY : O_RDONLY) | O_DIRECT);
  if (fd < 0) return fail(argv[2]);
  const auto size = static_cast<std::size_t>(::lseek(fd, 0, SEEK_END));
  if (block == 0 || size < block) {
    errno = EINVAL;
    return fail("the file must hold at least one block");
  }
  std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(kAlignment, block),
                                                     &std::free);
  std::memset(memory.get(), 'n', block);

  nfsrdma::bench::Sample sample(operations);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < operations; ++i) {
    const auto at = static_cast<off_t>(offset);
    const ssize_t moved = sample.measure([&] {
      return writing ? ::pwrite(fd, memory.get(), block, at) : ::pread(fd, memory.get(), block, at);
    });
    if (moved != static_cast<ssize_t>(block)) return fail("short transfer");
    offset += block;
    if (offset + block > size) offset = 0;
  }
  sample.print(block);
  return ::close(fd) == 0 ? 0 : fail("close");
}
