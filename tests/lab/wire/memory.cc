#include "tests/lab/wire/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace nfsrdma::lab {
namespace {

/// Slots have a power of two of bytes, so that one of a connection that has ended fits the next.
constexpr std::size_t kLeastSlot = 4096;
/// Each pool costs a registration: what is small comes in many.
constexpr std::size_t kLeastPool = 1024 * 1024;

}  // namespace

Result<Buffer> Memory::acquire(std::size_t size) {
  if (fabric_ != nullptr) return acquire_slot(size);
  auto* const bytes = new std::byte[size];
  std::memset(bytes, 0, size);  // value-initialised, each byte is a store of its own without -O2
  return Buffer(*this, {bytes, size});
}

Result<Buffer> Memory::acquire_slot(std::size_t size) {
  const std::size_t slot_size = std::bit_ceil(std::max(size, kLeastSlot));
  auto& pools = pools_[slot_size];
  Buffer slot;
  for (auto& pool : pools) {
    slot = pool->acquire();
    if (slot) break;
  }
  if (!slot) {
    auto pool = BufferPool::create(slot_size, std::max<std::size_t>(kLeastPool / slot_size, 1));
    if (!pool) return fail_from(pool);
    // Kept where it cannot be registered, too: the provider has noted it by then.
    auto& kept = pools.emplace_back(std::move(*pool));
    TRY(fabric_->register_pool(*kept));
    slot = kept->acquire();
  }
  std::memset(slot.data(), 0, size);
  return slot;
}

}  // namespace nfsrdma::lab
