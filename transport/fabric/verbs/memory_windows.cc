// The life of a window: free -> key chosen (prepare) -> bound (its bind stands before the Send) ->
// invalidated, by the peer or by us -> free. An invalidation is never queued for a window that the
// peer may have invalidated: Linux rxe of 6.1 crashes when a free window is invalidated.
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <vector>

#include "transport/fabric/verbs/fault.h"
#include "transport/fabric/verbs/lease_slots.h"
#include "transport/fabric/verbs/registration.h"

namespace nfsrdma::fabric::verbs {
namespace {

/// Windows are made ahead of their use and so many at a time: each takes a system call.
constexpr std::size_t kWindowBatch = 32;
/// A key's low byte is the consumer's; the rest names the window.
constexpr unsigned kKeyBits = 8;

class MemoryWindows final : public Registration {
 public:
  MemoryWindows(Device& device, Counters& counters) : device_(device), counters_(counters) {}

  Result<void> prepare(Lease& lease, std::span<std::byte> memory, Access access) override {
    const Region* region = device_.regions().find(memory.data(), memory.size());
    if (region == nullptr) {
      return fail(connection_error(Fault::resources, "memory that no registered pool has"));
    }
    if (slots_.full()) TRY(add_windows());
    slots_.take(lease);
    Window& window = windows_[lease.provider_index];
    window.invalidated = false;
    window.region = region;
    describe(lease, memory, access, ::ibv_inc_rkey(window.handle->rkey));
    counters_.leases.add();
    return {};
  }

  void cancel(Lease& lease) override {
    assert(lease.state == LeaseState::prepared);
    slots_.give_back(lease);
  }

  void bind(Lease& lease, SendQueue& queue) override {
    assert(lease.state == LeaseState::prepared);
    const Window& window = windows_[lease.provider_index];
    queue.push_bind(window.handle.get(), *window.region, lease.segment.handle, lease);
    lease.state = LeaseState::bound;
  }

  bool invalidate(Lease& lease, SendQueue& queue) override {
    assert(lease.state == LeaseState::bound);
    if (windows_[lease.provider_index].invalidated) {
      slots_.give_back(lease);
      return true;
    }
    lease.state = LeaseState::invalidating;
    queue.push_invalidate(lease);
    return false;
  }

  void invalidated(Lease& lease) override {
    assert(lease.state == LeaseState::invalidating);
    slots_.give_back(lease);
  }

  bool invalidated_by_peer(std::uint32_t handle) override {
    const auto place = std::ranges::lower_bound(by_key_, handle >> kKeyBits, {}, &Key::base);
    if (place == by_key_.end() || place->base != handle >> kKeyBits) return false;
    const Lease* lease = slots_[place->index];
    Window& window = windows_[place->index];
    if (lease == nullptr || lease->segment.handle != handle) return false;
    if (lease->state != LeaseState::bound || window.invalidated) return false;
    window.invalidated = true;
    counters_.invalidations_remote.add();
    return true;
  }

  void close() override {
    for (auto& window : windows_) window.handle.reset();
  }

  void release_all() override { slots_.release_all(); }

 private:
  struct Window {
    WindowHandle handle;
    const Region* region = nullptr;  // of the lease
    bool invalidated = false;        // by the peer
  };
  struct Key {
    std::uint32_t base;
    std::uint32_t index;
  };

  Result<void> add_windows() {
    for (std::size_t i = 0; i < kWindowBatch; ++i) {
      WindowHandle handle(::ibv_alloc_mw(device_.domain(), IBV_MW_TYPE_2));
      if (!handle && slots_.full()) {
        return fail(
            connection_error(Fault::resources, call_error(errno, "ibv_alloc_mw").message()));
      }
      if (!handle) break;
      by_key_.push_back({handle->rkey >> kKeyBits, static_cast<std::uint32_t>(windows_.size())});
      windows_.push_back({std::move(handle)});
      slots_.grow();
      counters_.windows.add();
    }
    std::ranges::sort(by_key_, {}, &Key::base);
    return {};
  }

  Device& device_;
  Counters& counters_;
  LeaseSlots slots_;
  std::vector<Window> windows_;
  std::vector<Key> by_key_;  // sorted
};

}  // namespace

std::unique_ptr<Registration> make_window_registration(Device& device, Counters& counters) {
  return std::make_unique<MemoryWindows>(device, counters);
}

}  // namespace nfsrdma::fabric::verbs
