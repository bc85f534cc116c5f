// Which leases of a connection are in use: slots that are found again by a lease's provider_index.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "transport/base/ring.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::fabric::verbs {

class LeaseSlots {
 public:
  std::size_t size() const { return leases_.size(); }
  bool full() const { return free_.empty(); }
  void grow() {
    free_.push(static_cast<std::uint32_t>(leases_.size()));
    leases_.push_back(nullptr);
  }

  /// The slot that has been free for the longest, so that an old key stays unused for long.
  void take(Lease& lease) {
    assert(lease.state == LeaseState::free && "I5: the lease is in use");
    lease.provider_index = free_.front();
    free_.pop();
    leases_[lease.provider_index] = &lease;
    lease.state = LeaseState::prepared;
  }
  void give_back(Lease& lease) {
    assert(leases_[lease.provider_index] == &lease && "a lease of another connection");
    leases_[lease.provider_index] = nullptr;
    free_.push(lease.provider_index);
    lease.state = LeaseState::free;
  }
  /// Null when the slot is free.
  Lease* operator[](std::uint32_t index) const { return leases_[index]; }

  void release_all() {
    for (Lease* lease : leases_) {
      if (lease != nullptr) give_back(*lease);
    }
  }

 private:
  std::vector<Lease*> leases_;
  Ring<std::uint32_t> free_;
};

/// Describes leased memory for a chunk: handles are the device's, offsets are addresses.
inline void describe(Lease& lease, std::span<std::byte> memory, Access access,
                     std::uint32_t handle) {
  lease.access = access;
  lease.memory = memory;
  lease.segment = {handle, static_cast<std::uint32_t>(memory.size()),
                   reinterpret_cast<std::uintptr_t>(memory.data())};
}

}  // namespace nfsrdma::fabric::verbs
