// A transport's side of one open Call: what every transport keeps of it.
#pragma once

#include <cassert>
#include <optional>

#include "transport/base/intrusive_list.h"
#include "transport/base/result.h"
#include "transport/rpc/call.h"

namespace nfsrdma::rpc {

/// The transports' contexts derive from it, and are pooled for as long as the server is used: a
/// Call allocates nothing. The list is the requester's, of the Calls that have not ended.
struct CallContext : ListNode {
  Call* call = nullptr;
  CallContext* next_in_bucket = nullptr;  ///< of the XID table
  bool sent = false;                      ///< the memory of its message is this side's again (I4)
  bool answered = false;                  ///< a reply or an error is known
  std::optional<Error> error;

 protected:
  ~CallContext() = default;
  void reset() {
    assert(sent && "I4: the memory of this call is still being sent");
    assert(!ListNode::linked() && "I5: work is outstanding");
    call = nullptr;
    sent = answered = false;
    error.reset();
  }
};

}  // namespace nfsrdma::rpc
