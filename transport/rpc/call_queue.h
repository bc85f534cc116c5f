// Calls that wait for their turn (with RDMA: a credit), in the order they leave.
#pragma once

#include <cstddef>

#include "transport/base/intrusive_list.h"
#include "transport/rpc/call.h"

namespace nfsrdma::rpc {

/// First in, first out, reserved Calls first. An isolated Call (one that may have ended a
/// connection) leaves only when nothing is open, also a reserved one, and no ordinary Call leaves
/// while one is open, so that a second loss is certainly its doing.
class CallQueue {
 public:
  void push(Call& call) {
    (call.urgency == Urgency::reserved ? reserved_ : ordinary_).push_back(call);
    ++size_;
  }
  std::size_t size() const { return size_; }

  /// The call that may be sent now, still in the queue; or null. `credits` tells in_flight() and
  /// may_send(Urgency).
  template <class Credits>
  Call* next(const Credits& credits, bool isolated_open) {
    if (reserved_.empty() && (ordinary_.empty() || isolated_open)) return nullptr;
    Call& call = reserved_.empty() ? ordinary_.front() : reserved_.front();
    if (call.isolated() && credits.in_flight() > 0) return nullptr;
    return credits.may_send(call.urgency) ? &call : nullptr;
  }
  void remove(Call& call) {
    call.unlink();
    --size_;
  }
  /// Removes and returns the first call, or null.
  Call* pop() {
    Call* call = reserved_.empty() ? ordinary_.pop_front() : reserved_.pop_front();
    if (call) --size_;
    return call;
  }

 private:
  IntrusiveList<Call> reserved_;
  IntrusiveList<Call> ordinary_;
  std::size_t size_ = 0;
};

}  // namespace nfsrdma::rpc
