#include "fuse/channel/ring_entries.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "fuse/channel/init.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

/// The largest READ, WRITE or READDIR: the kernel wants as much room in each entry.
constexpr std::size_t kPayloadRoom = kMaxTransfer;
constexpr const char* kPossible = "/sys/devices/system/cpu/possible";

/// Of a list such as "0-3,8".
unsigned count_of(std::string_view list) {
  unsigned count = 0;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end && *at >= '0' && *at <= '9') {
    unsigned first = 0;
    at = std::from_chars(at, end, first).ptr;
    unsigned last = first;
    if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
    count += last - first + 1;
    if (at < end && *at == ',') ++at;
  }
  return count;
}

}  // namespace

Result<unsigned> possible_processors() {
  const UniqueFd file(::open(kPossible, O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : -1;
  if (size < 0) return fail(Error::from_errno(errno, kPossible));
  const unsigned count = count_of({text.data(), static_cast<std::size_t>(size)});
  if (count == 0) return fail(Error::local(EINVAL, kPossible));
  return count;
}

Result<std::unique_ptr<RingEntries>> RingEntries::create(RingCommits& commits, std::uint16_t queue,
                                                         std::size_t count) {
  void* const base = ::mmap(nullptr, count * kPayloadRoom, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return fail(Error::from_errno(errno, "memory for io_uring"));
  // A core dump must not keep file data.
  ::madvise(base, count * kPayloadRoom, MADV_DONTDUMP);
  std::unique_ptr<RingEntries> made(new RingEntries(static_cast<std::byte*>(base), count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::span payload(made->base_ + i * kPayloadRoom, kPayloadRoom);
    made->entries_.emplace_back(commits, queue, made->headers_[i], payload);
  }
  return made;
}

RingEntries::~RingEntries() { ::munmap(base_, headers_.size() * kPayloadRoom); }

}  // namespace nfsrdma::fuse
