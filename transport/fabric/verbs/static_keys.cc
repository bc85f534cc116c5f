#include <cassert>

#include "transport/fabric/verbs/fault.h"
#include "transport/fabric/verbs/lease_slots.h"
#include "transport/fabric/verbs/registration.h"

namespace nfsrdma::fabric::verbs {
namespace {

class StaticKeys final : public Registration {
 public:
  StaticKeys(Device& device, Counters& counters) : device_(device), counters_(counters) {}

  Result<void> prepare(Lease& lease, std::span<std::byte> memory, Access access) override {
    const Region* region = device_.regions().find(memory.data(), memory.size());
    if (region == nullptr) {
      return fail(connection_error(Fault::resources, "memory that no registered pool has"));
    }
    if (slots_.full()) slots_.grow();
    slots_.take(lease);
    const auto& right = access == Access::remote_read ? region->readable : region->local;
    describe(lease, memory, access, right->rkey);
    counters_.leases.add();
    return {};
  }

  void cancel(Lease& lease) override {
    assert(lease.state == LeaseState::prepared);
    slots_.give_back(lease);
  }

  void bind(Lease& lease, SendQueue&) override {
    assert(lease.state == LeaseState::prepared);
    lease.state = LeaseState::bound;
  }

  bool invalidate(Lease& lease, SendQueue&) override {
    assert(lease.state == LeaseState::bound);
    slots_.give_back(lease);
    return true;
  }

  void invalidated(Lease&) override { assert(false && "static keys are not invalidated"); }
  /// Remote invalidation is not offered. A peer that invalidates nevertheless has invalidated a key
  /// that every connection uses.
  bool invalidated_by_peer(std::uint32_t) override { return false; }
  void close() override {}
  void release_all() override { slots_.release_all(); }

 private:
  Device& device_;
  Counters& counters_;
  LeaseSlots slots_;
};

}  // namespace

std::unique_ptr<Registration> make_static_registration(Device& device, Counters& counters) {
  return std::make_unique<StaticKeys>(device, counters);
}

}  // namespace nfsrdma::fabric::verbs
