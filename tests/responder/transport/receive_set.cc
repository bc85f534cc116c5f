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

}  // namespace nfsrdma::responder
