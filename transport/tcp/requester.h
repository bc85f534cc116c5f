// The requester of one TCP connection: each Call is one record, sent with one system call. Only the
// kernel reads and writes the memory that a call lends, and only within a system call (I3).
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/rpc/requester.h"
#include "transport/tcp/call_context.h"
#include "transport/tcp/link.h"
#include "transport/tcp/pools.h"

namespace nfsrdma::tcp {

/// Calls of Urgency::reserved that may be open besides Options::calls.
inline constexpr std::uint32_t kReservedCalls = 4;

class Requester final : public rpc::Requester<Requester, CallContext, Link, Pools> {
 public:
  Requester(Link& link, Pools& pools)
      : rpc::Requester<Requester, CallContext, Link, Pools>(link, pools,
                                                            link.options().calls + kReservedCalls),
        window_{.most_ordinary = link.options().calls} {}

  /// See MessageHandler::least_payload_offset.
  std::size_t least_payload_offset() const { return placeable_ > 0 ? least_offset_ : SIZE_MAX; }
  void on_reply(CallContext& context, Received reply);

 private:
  friend class rpc::Requester<Requester, CallContext, Link, Pools>;

  /// How many calls may be out. TCP knows no credits: the session's slots bound them, too.
  struct Window {
    std::size_t in_flight() const { return open; }
    bool may_send(rpc::Urgency urgency) const {
      return urgency == rpc::Urgency::reserved || ordinary < most_ordinary;
    }
    std::size_t most_ordinary;
    std::size_t open = 0;
    std::size_t ordinary = 0;  ///< calls of that urgency that have not ended
  };

  rpc::Sent send(rpc::Call& call);
  const Window& window() const { return window_; }
  void on_retired(CallContext& context);
  void release(CallContext& context);
  Result<rpc::Reply> decode(CallContext& context);
  void on_ending(CallContext& context);

  Window window_;
  std::size_t placeable_ = 0;  // open calls with a large payload sink
  std::size_t least_offset_ = SIZE_MAX;
};

}  // namespace nfsrdma::tcp
