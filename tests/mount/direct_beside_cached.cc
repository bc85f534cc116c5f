// Direct writes beside cached readers of one mount: a read never brings what was there before a
// write that has completed. The idea is that of xfstests' generic/451.
//
//     nfsrdma-direct-beside-cached libaio|io_uring|threads ROUNDS FILE
//
// A round overwrites every page of FILE with the number of the round, by several writes with
// O_DIRECT side by side. Meanwhile one thread reads the file through the page cache and one through
// a mapping; each looks up which round had completed before it reads. After each round the writer
// reads as well. Ends with one line, and with status 0 if no page was older than it may be.
#include <fcntl.h>
#include <libaio.h>
#include <liburing.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPagesOfWrite = 4;
constexpr std::size_t kWrites = 16;  // of a round, side by side
constexpr std::size_t kLength = kPagesOfWrite * kPage;
constexpr std::size_t kSize = kWrites * kLength;
constexpr std::size_t kWriters = 4;  // threads
constexpr int kReadsOfAnOpen = 5;    // then the reader opens the file anew
constexpr int kMostReported = 5;

std::atomic<std::uint64_t> completed{0};
std::atomic<std::uint64_t> looks{0};
std::atomic<std::uint64_t> old_pages{0};
std::atomic<bool> over{false};

[[noreturn]] void stop(const std::string& what, int error) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(error));
  std::exit(2);
}

int open_or_stop(const char* path, int flags) {
  const int fd = ::open(path, flags, 0644);
  if (fd < 0) stop(path, errno);
  return fd;
}

/// Every page begins and ends with its round.
void look_at(const std::byte* data, std::uint64_t least, const char* reader) {
  ++looks;
  for (std::size_t at = 0; at < kSize; at += kPage) {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::memcpy(&first, data + at, sizeof first);
    std::memcpy(&last, data + at + kPage - sizeof last, sizeof last);
    if (std::min(first, last) >= least) continue;
    if (++old_pages > kMostReported) continue;
    std::printf("%s: page %zu is of round %ju, %ju had completed\n", reader, at / kPage,
                std::uintmax_t{std::min(first, last)}, std::uintmax_t{least});
  }
}

void read_once(int fd, std::byte* memory) {
  const std::uint64_t least = completed;
  const ssize_t count = ::pread(fd, memory, kSize, 0);
  if (count != static_cast<ssize_t>(kSize)) stop("read", count < 0 ? errno : EIO);
  look_at(memory, least, "read");
}

void read_cached(const char* path) {
  std::vector<std::byte> memory(kSize);
  while (!over) {
    const int fd = open_or_stop(path, O_RDONLY);
    for (int i = 0; i < kReadsOfAnOpen; ++i) read_once(fd, memory.data());
    ::close(fd);
  }
}

void read_mapped(const char* path) {
  std::vector<std::byte> memory(kSize);
  while (!over) {
    const int fd = open_or_stop(path, O_RDONLY);
    void* mapped = ::mmap(nullptr, kSize, PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) stop("mmap", errno);
    for (int i = 0; i < kReadsOfAnOpen; ++i) {
      const std::uint64_t least = completed;
      std::memcpy(memory.data(), mapped, kSize);
      look_at(memory.data(), least, "mapping");
    }
    ::munmap(mapped, kSize);
    ::close(fd);
  }
}

/// Writes all of the memory to the same place of the file, piece by piece, and returns when that
/// has completed.
using WriteAll = std::function<void(int fd, std::byte* memory)>;

void check_length(long count) {
  if (count != static_cast<long>(kLength)) {
    stop("write", count < 0 ? static_cast<int>(-count) : ENOSPC);
  }
}

WriteAll by_libaio() {
  auto context = std::make_shared<io_context_t>(nullptr);
  if (const int error = ::io_setup(kWrites, context.get()); error < 0) stop("io_setup", -error);
  return [context](int fd, std::byte* memory) {
    std::array<iocb, kWrites> blocks{};
    std::array<iocb*, kWrites> pointers{};
    for (std::size_t i = 0; i < kWrites; ++i) {
      const std::size_t at = i * kLength;
      ::io_prep_pwrite(&blocks[i], fd, memory + at, kLength, static_cast<long long>(at));
      pointers[i] = &blocks[i];
    }
    const int begun = ::io_submit(*context, kWrites, pointers.data());
    if (begun != static_cast<int>(kWrites)) stop("io_submit", begun < 0 ? -begun : EAGAIN);
    std::array<io_event, kWrites> events{};
    const int ended = ::io_getevents(*context, kWrites, kWrites, events.data(), nullptr);
    if (ended != static_cast<int>(kWrites)) stop("io_getevents", ended < 0 ? -ended : EIO);
    for (const io_event& event : events) check_length(static_cast<long>(event.res));
  };
}

WriteAll by_io_uring() {
  auto ring = std::make_shared<io_uring>();
  if (const int error = ::io_uring_queue_init(kWrites, ring.get(), 0); error < 0) {
    std::printf("no io_uring: %s\n", std::strerror(-error));
    std::exit(77);
  }
  return [ring](int fd, std::byte* memory) {
    for (std::size_t i = 0; i < kWrites; ++i) {
      const std::size_t at = i * kLength;
      ::io_uring_prep_write(::io_uring_get_sqe(ring.get()), fd, memory + at, kLength, at);
    }
    const int begun = ::io_uring_submit(ring.get());
    if (begun != static_cast<int>(kWrites)) stop("io_uring_submit", begun < 0 ? -begun : EAGAIN);
    for (std::size_t i = 0; i < kWrites; ++i) {
      io_uring_cqe* event = nullptr;
      const int error = ::io_uring_wait_cqe(ring.get(), &event);
      if (error < 0) stop("io_uring_wait_cqe", -error);
      check_length(event->res);
      ::io_uring_cqe_seen(ring.get(), event);
    }
  };
}

WriteAll by_threads() {
  return [](int fd, std::byte* memory) {
    std::vector<std::thread> writers;
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([=] {
        for (std::size_t at = writer * kLength; at < kSize; at += kWriters * kLength) {
          const ssize_t count = ::pwrite(fd, memory + at, kLength, static_cast<off_t>(at));
          check_length(count < 0 ? -errno : count);
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
  };
}

WriteAll made_by(std::string_view kind) {
  if (kind == "libaio") return by_libaio();
  if (kind == "io_uring") return by_io_uring();
  if (kind == "threads") return by_threads();
  stop("libaio, io_uring or threads", EINVAL);
}

void fill(std::byte* memory, std::uint64_t round) {
  for (std::size_t at = 0; at < kSize; at += kPage) {
    std::memcpy(memory + at, &round, sizeof round);
    std::memcpy(memory + at + kPage - sizeof round, &round, sizeof round);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) stop("usage: libaio|io_uring|threads ROUNDS FILE", EINVAL);
  const WriteAll write_all = made_by(argv[1]);
  const auto rounds = static_cast<std::uint64_t>(std::atoll(argv[2]));
  const char* path = argv[3];
  void* aligned = nullptr;
  if (::posix_memalign(&aligned, kPage, kSize) != 0) stop("memory", ENOMEM);
  auto* const memory = static_cast<std::byte*>(std::memset(aligned, 0, kSize));

  const int fd = open_or_stop(path, O_CREAT | O_TRUNC | O_RDWR | O_DIRECT);
  write_all(fd, memory);
  const int cached = open_or_stop(path, O_RDONLY);
  std::vector<std::thread> readers;
  readers.emplace_back(read_cached, path);
  readers.emplace_back(read_mapped, path);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    fill(memory, round);
    write_all(fd, memory);
    completed = round;
    read_once(cached, memory);
  }
  ::close(cached);
  ::close(fd);
  over = true;
  for (std::thread& reader : readers) reader.join();
  // What the page cache has when all have closed the file.
  const int last = open_or_stop(path, O_RDONLY);
  read_once(last, memory);
  ::close(last);
  std::free(aligned);
  std::printf("%s: %ju rounds, %ju looks, %ju old pages\n", argv[1], std::uintmax_t{rounds},
              std::uintmax_t{looks}, std::uintmax_t{old_pages});
  return old_pages == 0 ? 0 : 1;
}
