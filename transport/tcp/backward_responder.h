// The client as responder over TCP: callbacks, and the replies to them.
#pragma once

#include <cstdint>

#include "transport/rpc/backward_responder.h"
#include "transport/tcp/backward_call.h"
#include "transport/tcp/call_context.h"
#include "transport/tcp/link.h"
#include "transport/tcp/pools.h"

namespace nfsrdma::tcp {

class BackwardResponder final
    : public rpc::BackwardResponder<BackwardResponder, BackwardCallSlot, Link> {
 public:
  BackwardResponder(Link& link, Pools& pools, rpc::ChannelObserver& observer)
      : rpc::BackwardResponder<BackwardResponder, BackwardCallSlot, Link>(link, *pools.backward,
                                                                          observer) {}

  /// A record that holds a Call. The connection ends when the server has filled all the room for
  /// them.
  void on_call(std::uint32_t xid, Received call);

 private:
  friend class rpc::BackwardResponder<BackwardResponder, BackwardCallSlot, Link>;
  void on_open_changed() {}
  void send(BackwardCallSlot& slot);
};

}  // namespace nfsrdma::tcp
