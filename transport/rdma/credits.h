// The credits of one direction of one connection (RFC 8166 section 3.3.1).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "transport/rpc/call.h"

namespace nfsrdma::rdma {

/// Levels are absolute: the server's latest grant, bounded by what was asked for. Starts with one
/// credit, until the first good reply tells the grant (section 3.3.3). One credit is kept back for
/// reserved Calls, so that renewal and recovery move when everything else waits.
class CreditAccount {
 public:
  explicit CreditAccount(std::uint32_t requested) : requested_(requested) { assert(requested > 0); }

  std::uint32_t requested() const { return requested_; }
  std::uint32_t limit() const { return std::min(requested_, granted_); }
  std::uint32_t in_flight() const { return in_flight_; }

  bool may_send(rpc::Urgency urgency) const {
    const bool keep_one = urgency == rpc::Urgency::ordinary && limit() > 1;
    return in_flight_ < limit() - (keep_one ? 1 : 0);
  }
  void take() { ++in_flight_; }
  void give_back() {
    assert(in_flight_ > 0);
    --in_flight_;
  }

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
};

}  // namespace nfsrdma::rdma
