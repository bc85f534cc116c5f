#include "transport/fabric/verbs/memory_regions.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "transport/fabric/verbs/fault.h"

namespace nfsrdma::fabric {
namespace verbs {
namespace {

constexpr const char* kRegisterStep = "register memory with the RDMA device";
constexpr std::size_t kKibibyte = 1024;
/// Locked memory beside the pools: queues of the device's library.
constexpr std::size_t kLimitSlack = 4 * kKibibyte * kKibibyte;

std::string limit_text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{} KiB", limit / kKibibyte);
}

/// A process may raise its soft limit to the hard one by itself, and needs all it can lock.
void raise_soft_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_MEMLOCK, &limit);
}

}  // namespace

const char* tier_name(Tier tier) {
  return tier == Tier::windows ? "memory windows" : "static keys";
}

Result<void> MemoryRegions::add(std::span<std::byte> memory) {
  const auto same = [&](const auto& each) { return each->memory.data() == memory.data(); };
  if (std::ranges::any_of(regions_, same)) return {};
  raise_soft_limit();
  // A child process gets no copy. Copy-on-write would give this process new pages, while the device
  // writes to the old ones.
  (void)::madvise(memory.data(), memory.size(), MADV_DONTFORK);
  auto region = std::make_unique<Region>();
  region->memory = memory;
  const std::size_t registrations = tier_ == Tier::windows ? 1 : 2;
  if (tier_ == Tier::windows) {
    region->local = register_for(memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
  } else {
    region->local = register_for(memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (region->local) region->readable = register_for(memory, IBV_ACCESS_REMOTE_READ);
  }
  const bool whole = region->local && (tier_ == Tier::windows || region->readable);
  if (!whole) return fail(too_little(errno, registrations * memory.size()));
  pinned_ += registrations * memory.size();
  regions_.push_back(std::move(region));
  return {};
}

RegionHandle MemoryRegions::register_for(std::span<std::byte> memory, int access) const {
  return RegionHandle(::ibv_reg_mr(domain_, memory.data(), memory.size(), access));
}

Error MemoryRegions::too_little(int error_number, std::size_t bytes) const {
  if (error_number != ENOMEM && error_number != EPERM) {
    return call_error(error_number, "ibv_reg_mr", fmt::format("{} bytes", bytes));
  }
  rlimit limit{};
  (void)::getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::size_t registrations = tier_ == Tier::windows ? 1 : 2;
  const std::size_t wanted = std::max(pinned_ + bytes, registrations * expected_) + kLimitSlack;
  return Error::local(
      error_number, kRegisterStep,
      fmt::format("RLIMIT_MEMLOCK is {}, and {} KiB are needed: raise it with ulimit -l, "
                  "limits.conf(5) or LimitMEMLOCK=",
                  limit_text(limit.rlim_cur), wanted / kKibibyte));
}

const Region* MemoryRegions::find(const std::byte* at, std::size_t length) const {
  const auto found = std::ranges::find_if(
      regions_, [&](const auto& region) { return region->contains(at, length); });
  return found == regions_.end() ? nullptr : found->get();
}

}  // namespace verbs

bool is_memory_limit(const Error& error) {
  return error.layer == Layer::local && error.step == std::string_view(verbs::kRegisterStep);
}

}  // namespace nfsrdma::fabric
