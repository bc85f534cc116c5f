#include "transport/fabric/verbs/staging.h"

#include "transport/fabric/verbs/fault.h"

namespace nfsrdma::fabric::verbs {
namespace {

constexpr std::size_t kSlotSize = 64 * 1024;
constexpr std::size_t kSlots = 16;
constexpr std::size_t kMaxPools = 16;

}  // namespace

Result<Buffer> Staging::acquire(std::size_t size, MemoryRegions& regions) {
  if (size > kSlotSize) {
    return fail(connection_error(Fault::resources, "a message in too many pieces is too long"));
  }
  for (auto& pool : pools_) {
    if (Buffer buffer = pool->acquire()) return buffer;
  }
  if (pools_.size() == kMaxPools) {
    return fail(connection_error(Fault::resources, "too many messages wait to be sent"));
  }
  auto pool = BufferPool::create(kSlotSize, kSlots);
  if (!pool) return fail_from(pool);
  TRY(regions.add((*pool)->memory()));
  pools_.push_back(std::move(*pool));
  return pools_.back()->acquire();
}

}  // namespace nfsrdma::fabric::verbs
