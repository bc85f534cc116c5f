#include "transport/rdma/lease_set.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "transport/base/probe.h"
#include "transport/net/fault.h"
#include "transport/rdma/fault.h"

namespace nfsrdma::rdma {

LeaseSet::LeaseSet(CallContext& owner) {
  for (std::size_t i = 0; i < kMax; ++i) {
    leases_[i].owner = &owner;
    pointers_[i] = &leases_[i];
  }
}

Result<void> LeaseSet::expose(fabric::Endpoint& endpoint, std::span<std::byte> memory,
                              fabric::Access access, std::size_t longest) {
  while (!memory.empty()) {
    if (count_ == kMax) {
      return fail(transport_error(Fault::call_too_large, "expose memory", "too many segments"));
    }
    const std::size_t length = longest == 0 ? memory.size() : std::min(longest, memory.size());
    fabric::Lease& lease = leases_[count_];
    // As a loss of the connection: the session sends the call again. An error of Layer::system
    // would become the program's errno.
    auto prepared = endpoint.prepare(lease, memory.first(length), access);
    if (!prepared) return fail(net::as_loss(prepared.error()));
    ++count_;
    NFSRDMA_PROBE(xprtrdma_mr_map, lease.segment.handle, length, static_cast<int>(access));
    // Bytes that a reply claims and the server did not write would be data of earlier users.
    const bool unknown = access == fabric::Access::remote_write && !endpoint.placed(lease);
    if (unknown) std::memset(memory.data(), 0, length);
    memory = memory.subspan(length);
  }
  return {};
}

bool LeaseSet::has_handle(std::uint32_t handle) const {
  return std::any_of(leases_.begin(), leases_.begin() + count_,
                     [handle](const auto& lease) { return lease.segment.handle == handle; });
}

bool LeaseSet::has_placed(const fabric::Endpoint& endpoint, std::size_t index,
                          std::size_t length) const {
  return endpoint.placed(leases_[index]).value_or(length) >= length;
}

void LeaseSet::cancel(fabric::Endpoint& endpoint) {
  for (std::size_t i = 0; i < count_; ++i) endpoint.cancel(leases_[i]);
}

std::size_t LeaseSet::invalidate(fabric::Endpoint& endpoint) {
  std::size_t pending = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const bool by_server = leases_[i].state == fabric::LeaseState::free;
    NFSRDMA_PROBE(xprtrdma_mr_localinv, leases_[i].segment.handle, static_cast<int>(by_server));
    if (!endpoint.invalidate(leases_[i])) ++pending;
  }
  return pending;
}

bool LeaseSet::all_free() const {
  return std::all_of(leases_.begin(), leases_.begin() + count_,
                     [](const auto& lease) { return lease.state == fabric::LeaseState::free; });
}

void LeaseSet::clear() {
  assert(all_free() && "I3, I5: memory of a finished call must not be exposed");
  count_ = 0;
}

}  // namespace nfsrdma::rdma
