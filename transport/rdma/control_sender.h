// Messages of the transport's own: RDMA_OPTIONAL, and RDMA_ERROR that answers one. They carry no
// RPC message and take no part in the life of a Call.
#pragma once

#include <cassert>
#include <utility>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/object_pool.h"
#include "transport/rdma/header.h"
#include "transport/rdma/link.h"

namespace nfsrdma::rdma {

class ControlSender;

/// One message from its post to the end of its Send (I4).
class ControlMessage final : public SendOwner, public ListNode {
 public:
  ControlMessage(ObjectPool<ControlMessage>& pool, Buffer memory)
      : pool_(pool), memory_(std::move(memory)) {}
  void on_send_done() override {
    unlink();
    pool_.give_back(*this);
  }
  void reset() { assert(!linked() && "I5: it is being sent"); }

 private:
  friend class ControlSender;
  ObjectPool<ControlMessage>& pool_;
  Buffer memory_;
};

/// Outlives connections, as all memory lent to a provider.
using ControlPool = ObjectPool<ControlMessage>;

/// Sends for one connection.
class ControlSender {
 public:
  /// `pool` may be null where nothing is ever sent.
  ControlSender(Link& link, ControlPool* pool) : link_(link), pool_(pool) {}

  /// Posts one message. If the peer causes more answers than there are buffers, the
  /// connection ends.
  void send(const Header& header);
  /// The connection is gone.
  void on_down();

 private:
  Link& link_;
  ControlPool* pool_;
  IntrusiveList<ControlMessage> sending_;
};

}  // namespace nfsrdma::rdma
