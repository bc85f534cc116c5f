// The client as responder: Calls that the server sends over the client's connection (RFC 8167;
// requirements BD-1 to BD-22). Replies are inline; chunks are refused with ERR_CHUNK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/intrusive_list.h"
#include "transport/rdma/backward_call.h"
#include "transport/rdma/header.h"
#include "transport/rdma/link.h"
#include "transport/rdma/pools.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::rdma {

class BackwardResponder {
 public:
  BackwardResponder(Link& link, Pools& pools, rpc::ChannelObserver& observer)
      : link_(link), pool_(*pools.backward), observer_(observer) {}

  /// A Call with a well-formed header. `payload` is empty for RDMA_NOMSG.
  void on_call(const Header& header, std::span<const std::byte> payload, rpc::MessageRef message);
  /// Answers a Call of another version of the transport.
  void refuse_version(const Header& header);
  /// The connection is gone. Answers to callbacks that are still being handled are dropped.
  void on_down();

  /// Dispatched and not answered.
  std::size_t open_calls() const { return open_; }

 private:
  friend class BackwardCallSlot;
  /// Bytes that a reply may have, with its header.
  std::size_t max_message() const { return link_.thresholds().call; }
  void send_reply(BackwardCallSlot& slot);
  void on_send_done(BackwardCallSlot& slot);

  /// A slot for one answer. Null if the server has more callbacks open than it was granted; the
  /// connection ends then.
  BackwardCallSlot* take_slot();
  void refuse(const Header& header, const RdmaError& error);
  /// Posts answer_ and `payload` bytes behind it.
  void post(BackwardCallSlot& slot, std::size_t payload);

  Link& link_;
  BackwardCallPool& pool_;
  rpc::ChannelObserver& observer_;
  IntrusiveList<BackwardCallSlot> in_use_;
  std::size_t open_ = 0;
  Header answer_;  // scratch: too large to make for each Send
};

}  // namespace nfsrdma::rdma
