// The client as responder: Calls that the server sends over the client's connection (RFC 8167;
// requirements BD-1 to BD-22). Replies are inline; chunks are refused with ERR_CHUNK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/rdma/backward_call.h"
#include "transport/rdma/header.h"
#include "transport/rdma/link.h"
#include "transport/rdma/pools.h"
#include "transport/rpc/backward_responder.h"

namespace nfsrdma::rdma {

class BackwardResponder final
    : public rpc::BackwardResponder<BackwardResponder, BackwardCallSlot, Link> {
 public:
  BackwardResponder(Link& link, Pools& pools, rpc::ChannelObserver& observer)
      : rpc::BackwardResponder<BackwardResponder, BackwardCallSlot, Link>(link, *pools.backward,
                                                                          observer) {}

  /// A Call with a well-formed header. `payload` is empty for RDMA_NOMSG.
  void on_call(const Header& header, std::span<const std::byte> payload, rpc::MessageRef message);
  /// Answers a Call of another version of the transport.
  void refuse_version(const Header& header);

 private:
  friend class rpc::BackwardResponder<BackwardResponder, BackwardCallSlot, Link>;
  /// The callbacks' messages come out of the receives that are kept back for them.
  void on_open_changed() { link_.hold_for_backward(open_calls()); }
  void send(BackwardCallSlot& slot);
  void refuse(const Header& header, const RdmaError& error);
  /// Posts answer_ and `payload` bytes behind it.
  void post(BackwardCallSlot& slot, std::size_t payload);

  Header answer_;  // scratch: too large to make for each Send
};

}  // namespace nfsrdma::rdma
