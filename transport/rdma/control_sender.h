// Messages of the transport's own: RDMA_OPTIONAL, and RDMA_ERROR that answers one. They carry no
// RPC message and take no part in the life of a Call.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"
#include "transport/rdma/header.h"
#include "transport/rdma/link.h"

namespace nfsrdma::rdma {

class ControlSender;
class ControlPool;

/// One message from its post to the end of its Send (I4).
class ControlMessage final : public SendOwner, public ListNode {
 public:
  ControlMessage(ControlPool& pool, Buffer memory) : pool_(pool), memory_(std::move(memory)) {}
  void on_send_done() override;

 private:
  friend class ControlSender;
  ControlPool& pool_;
  Buffer memory_;
};

/// Outlives connections, as all memory lent to a provider. I5: holds nothing that is being sent.
class ControlPool {
 public:
  /// Takes `count` buffers of `memory`.
  ControlPool(BufferPool& memory, std::size_t count);

  ControlMessage* take() { return free_.pop_front(); }
  void give_back(ControlMessage& message) { free_.push_front(message); }

 private:
  std::vector<std::unique_ptr<ControlMessage>> messages_;
  IntrusiveList<ControlMessage> free_;
};

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
