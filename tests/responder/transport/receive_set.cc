#include "tests/responder/transport/receive_set.h"

#include <cerrno>

namespace nfsrdma::responder {

Result<void> ReceiveSet::grow(fabric::Endpoint& endpoint, std::size_t wanted) {
  while (receives_.size() < wanted) {
    Buffer slot = pool_.acquire();
    if (!slot) return fail(Error::local(ENOBUFS, "post receive", "no receive buffer left"));
    auto& receive = receives_.emplace_back(std::make_unique<Receive>(std::move(slot)));
    receive->memory = receive->slot.first(message_size_);
    TRY(endpoint.post_receive(*receive));
  }
  return {};
}

bool ReceiveSet::raise(std::size_t message_size) {
  if (message_size > message_size_) {
    message_size_ = message_size;
    smaller_ = receives_.size();
  }
  return smaller_ == 0;
}

Result<void> ReceiveSet::repost(fabric::Endpoint& endpoint, Receive& receive, bool& raised) {
  const bool smaller = receive.memory.size() < message_size_;
  raised = smaller && --smaller_ == 0;
  receive.memory = receive.slot.first(message_size_);
  return endpoint.post_receive(receive);
}

}  // namespace nfsrdma::responder
