#include "transport/rdma/control_sender.h"

#include <cassert>

#include "transport/rdma/fault.h"

namespace nfsrdma::rdma {

void ControlSender::send(const Header& header) {
  if (link_.ending()) return;
  ControlMessage* message = pool_->take();
  if (!message) {
    return link_.end(protocol_error("RDMA_OPTIONAL", "the server does not take its answers in"));
  }
  sending_.push_back(*message);
  xdr::Encoder out(message->memory_.bytes());
  encode_header(out, header);
  assert(out.ok() && "the memory holds the longest control message");
  const std::span<const std::byte> piece = out.encoded();
  fabric::SendWork work;
  work.pieces = {&piece, 1};
  work.context = static_cast<SendOwner*>(message);
  link_.post(work, header.proc);
}

void ControlSender::on_down() {
  while (ControlMessage* message = sending_.pop_front()) pool_->give_back(*message);
}

}  // namespace nfsrdma::rdma
