// The credits of one direction of one connection (RFC 8166 section 3.3.1).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "transport/rpc/call.h"

namespace nfsrdma::rdma {

/// Levels are absolute: the server's latest grant, bounded by the request. Starts with one credit,
/// until the first good reply tells the grant (section 3.3.3). One credit is kept back for reserved
/// Calls, so that renewal and recovery move when everything else waits.
class CreditAccount {
 public:
  explicit CreditAccount(std::uint32_t requested) : requested_(requested) { assert(requested > 0); }

  std::uint32_t requested() const { return requested_; }
  std::uint32_t limit() const { return std::min(requested_, granted_); }
  /// Calls that are sent and not answered.
  std::uint32_t in_flight() const { return in_flight_; }
  /// Those, and an RDMA_OPTIONAL (F-14).
  std::uint32_t used() const { return in_flight_ + (optional_ ? 1 : 0); }

  bool may_send(rpc::Urgency urgency) const {
    const bool keep_one = urgency == rpc::Urgency::ordinary && limit() > 1;
    return used() < limit() - (keep_one ? 1 : 0);
  }
  void take() { ++in_flight_; }
  void give_back() {
    assert(in_flight_ > 0);
    --in_flight_;
  }

  /// An RDMA_OPTIONAL is counted as one credit until a later reply. It goes out only when ordinary
  /// Calls can follow it, whose replies free the credit again. False: not now.
  bool take_optional() {
    constexpr std::uint32_t kKeptBackAndOneCall = 2;
    if (optional_ || limit() <= kKeptBackAndOneCall || used() >= limit()) return false;
    optional_ = true;
    return true;
  }
  void give_back_optional() { optional_ = false; }

  /// A grant of a good reply; 0 counts as 1 (F-7). Returns whether the level changed.
  bool grant(std::uint32_t level) {
    const std::uint32_t before = granted_;
    granted_ = std::max<std::uint32_t>(level, 1);
    return granted_ != before;
  }

 private:
  const std::uint32_t requested_;
  std::uint32_t granted_ = 1;
  std::uint32_t in_flight_ = 0;
  bool optional_ = false;
};

}  // namespace nfsrdma::rdma
