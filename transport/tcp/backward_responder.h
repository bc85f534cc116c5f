// The client as responder: Calls that the server sends over the client's connection (RFC 8881
// section 2.10.3.1), and the replies to them.
#pragma once

#include <cstddef>

#include "transport/base/intrusive_list.h"
#include "transport/rpc/channel.h"
#include "transport/tcp/backward_call.h"
#include "transport/tcp/link.h"
#include "transport/tcp/pools.h"

namespace nfsrdma::tcp {

class BackwardResponder {
 public:
  BackwardResponder(Link& link, Pools& pools, rpc::ChannelObserver& observer)
      : link_(link), pool_(*pools.backward), observer_(observer) {}

  /// A record that holds a Call. The connection ends when the server has filled all the room there
  /// is for them.
  void on_call(std::uint32_t xid, Received call);
  /// The connection is gone. Answers to callbacks that are still being handled are dropped.
  void on_down();

  /// Dispatched and not answered.
  std::size_t open_calls() const { return open_; }

 private:
  friend class BackwardCallSlot;
  void send_reply(BackwardCallSlot& slot);

  Link& link_;
  BackwardCallPool& pool_;
  rpc::ChannelObserver& observer_;
  IntrusiveList<BackwardCallSlot::InUse> in_use_;
  std::size_t open_ = 0;
};

}  // namespace nfsrdma::tcp
