#include "fuse/channel/init.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "fuse/channel/ring_format.h"

namespace nfsrdma::fuse {
namespace {

/// The version of the protocol that this program speaks: 7.31.
constexpr std::uint32_t kMinor = 31;
constexpr std::uint32_t kOldestMinor = 23;
/// Most pages of a request, for a kernel without FUSE_MAX_PAGES.
constexpr std::size_t kDefaultPages = 32;
constexpr std::uint32_t kNanosecond = 1;

/// Flags that this program wants, of those that the kernel offers.
std::uint32_t wanted_flags(std::uint32_t offered, const TransferLimits& limits) {
  std::uint32_t wanted = FUSE_ASYNC_READ | FUSE_ASYNC_DIO | FUSE_MAX_PAGES | FUSE_INIT_EXT;
  // Pages of a directory come from the server with attributes in any case. With AUTO the kernel
  // takes them for some pages only, and asks for each of the other entries by itself (find, ls -l).
  if (limits.readdirplus) wanted |= FUSE_DO_READDIRPLUS;
  if (limits.posix_locks) wanted |= FUSE_POSIX_LOCKS;
  if (limits.flock_locks) wanted |= FUSE_FLOCK_LOCKS;
  const bool explicitly = limits.explicit_invalidation && (offered & FUSE_EXPLICIT_INVAL_DATA);
  wanted |= explicitly ? FUSE_EXPLICIT_INVAL_DATA : FUSE_AUTO_INVAL_DATA;
  return wanted & offered;
}

}  // namespace

std::optional<fuse_init_out> negotiate(const fuse_init_in& kernel, const TransferLimits& limits) {
  fuse_init_out out{};
  out.major = FUSE_KERNEL_VERSION;
  out.minor = kMinor;
  if (kernel.major > FUSE_KERNEL_VERSION) return out;
  if (kernel.major < FUSE_KERNEL_VERSION || kernel.minor < kOldestMinor) return std::nullopt;
  // A kernel that does not know HANDLE_KILLPRIV ignores it.
  out.flags = wanted_flags(kernel.flags, limits) | FUSE_BIG_WRITES | FUSE_HANDLE_KILLPRIV;
  const std::uint32_t more = kDirectIoAllowMmap | (limits.io_uring ? kOverIoUring : 0);
  if (out.flags & FUSE_INIT_EXT) out.flags2 = kernel.flags2 & more;
  out.max_readahead = static_cast<std::uint32_t>(kMaxTransfer);
  out.max_background = kMaxBackground;
  out.congestion_threshold = kMaxBackground;
  out.time_gran = kNanosecond;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::size_t max_write = std::min(limits.max_write, kMaxTransfer);
  if (kernel.flags & FUSE_MAX_PAGES) {
    // Of any request: the kernel bounds a WRITE by max_write as well, and a READ by this alone.
    const std::size_t largest = std::max(max_write, std::min(limits.max_read, kMaxTransfer));
    out.max_pages = static_cast<std::uint16_t>((largest - 1) / page + 1);
  } else {
    max_write = std::min(max_write, kDefaultPages * page);
  }
  out.max_write = static_cast<std::uint32_t>(max_write);
  return out;
}

}  // namespace nfsrdma::fuse
