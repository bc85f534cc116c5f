// The exposures of one Call's memory (I3): every chunk's segments, from preparing them to the
// moment the server can reach none of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/fabric/fabric.h"
#include "transport/rdma/chunk_lists.h"

namespace nfsrdma::rdma {

class CallContext;

/// A lease that knows its call, for EndpointHandler::on_invalidated.
struct CallLease : fabric::Lease {
  CallContext* owner = nullptr;
};

class LeaseSet {
 public:
  /// Position Zero chunk, one Read chunk, one Write chunk and the Reply chunk, fully split.
  static constexpr std::size_t kMax = 4 * kMaxSegments;

  explicit LeaseSet(CallContext& owner);

  /// Exposes `memory` in segments of at most `longest` bytes (0: one segment) and appends them.
  /// Memory for remote writes is cleared if the provider cannot tell which bytes were written.
  Result<void> expose(fabric::Endpoint& endpoint, std::span<std::byte> memory,
                      fabric::Access access, std::size_t longest);
  std::size_t count() const { return count_; }
  const fabric::Segment& segment(std::size_t index) const { return leases_[index].segment; }
  bool has_handle(std::uint32_t handle) const;
  /// Whether the peer has placed this many bytes at the start of the lease, as far as the
  /// provider knows. Before invalidate().
  bool has_placed(const fabric::Endpoint& endpoint, std::size_t index, std::size_t length) const;
  /// For SendWork::leases.
  std::span<fabric::Lease* const> list() const { return {pointers_.data(), count_}; }

  /// Takes back what no Send has bound.
  void cancel(fabric::Endpoint& endpoint);
  /// Starts to end every exposure. Returns how many will be reported by on_invalidated.
  std::size_t invalidate(fabric::Endpoint& endpoint);
  bool all_free() const;
  /// Forgets the leases, all of which must be free (I5).
  void clear();

 private:
  std::size_t count_ = 0;
  std::array<CallLease, kMax> leases_;
  std::array<fabric::Lease*, kMax> pointers_;
};

}  // namespace nfsrdma::rdma
