// bench-stream serve: listens on a free port of 127.0.0.1, says "listening on 127.0.0.1:PORT", and
// serves one copy after another until it is killed.
// bench-stream write|read PORT BLOCK BYTES: copies BYTES over one bare TCP connection, in blocks,
// and prints "bytes=B seconds=S mib_per_s=R". A copy to the server has ended when the server has
// confirmed that it has all: what a write(2) and fsync(2) of as many bytes cannot be faster than.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/bench/loopback.h"

namespace {

constexpr std::size_t kServedBlock = std::size_t{1} << 20;

/// What the client asks for, in the byte order of this machine.
struct Wish {
  std::uint64_t writing = 0;
  std::uint64_t bytes = 0;
};

bool send_bytes(int fd, std::vector<char>& block, std::uint64_t bytes) {
  while (bytes > 0) {
    const std::size_t length = std::min<std::uint64_t>(block.size(), bytes);
    if (!nfsrdma::bench::send_all(fd, block.data(), length)) return false;
    bytes -= length;
  }
  return true;
}

bool receive_bytes(int fd, std::vector<char>& block, std::uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::recv(fd, block.data(), std::min<std::uint64_t>(block.size(), bytes), 0);
    if (got <= 0) return false;
    bytes -= static_cast<std::uint64_t>(got);
  }
  return true;
}

int serve() {
  const int listener = nfsrdma::bench::listen_on(0);
  if (listener < 0) return 1;
  std::vector<char> block(kServedBlock, 'n');
  for (;;) {
    const int fd = ::accept(listener, nullptr, nullptr);
    if (fd < 0) return 1;
    Wish wish;
    if (::recv(fd, &wish, sizeof wish, MSG_WAITALL) == sizeof wish) {
      const char done = 1;
      if (wish.writing == 0) {
        send_bytes(fd, block, wish.bytes);
      } else if (receive_bytes(fd, block, wish.bytes)) {
        nfsrdma::bench::send_all(fd, &done, sizeof done);
      }
    }
    ::close(fd);
  }
}

bool copy(int fd, const Wish& wish, std::vector<char>& block) {
  if (!nfsrdma::bench::send_all(fd, &wish, sizeof wish)) return false;
  if (wish.writing == 0) return receive_bytes(fd, block, wish.bytes);
  char done = 0;
  return send_bytes(fd, block, wish.bytes) && ::recv(fd, &done, sizeof done, 0) == sizeof done;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "serve") == 0) return serve();
  if (argc != 5) {
    std::fprintf(stderr, "usage: bench-stream serve | write|read PORT BLOCK BYTES\n");
    return 1;
  }
  std::vector<char> block(std::strtoul(argv[3], nullptr, 10), 'n');
  const Wish wish{std::strcmp(argv[1], "write") == 0, std::strtoull(argv[4], nullptr, 10)};
  const int fd = nfsrdma::bench::connect_to(std::strtoul(argv[2], nullptr, 10));
  if (fd < 0) {
    std::fprintf(stderr, "bench-stream: connect: %s\n", std::strerror(errno));
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  const bool copied = !block.empty() && copy(fd, wish, block);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ::close(fd);
  constexpr double kMiB = 1 << 20;
  if (copied) {
    std::printf("bytes=%llu seconds=%.4f mib_per_s=%.1f\n",
                static_cast<unsigned long long>(wish.bytes), took.count(),
                static_cast<double>(wish.bytes) / kMiB / took.count());
  }
  return copied ? 0 : 1;
}
