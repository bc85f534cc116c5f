#include "transport/tcp/backward_responder.h"

namespace nfsrdma::tcp {

void BackwardResponder::on_call(std::uint32_t xid, Received call) {
  link_.counters().backward_calls.add();
  BackwardCallSlot* slot = pool_.take();
  if (!slot) {
    link_.counters().backward_overruns.add();
    return link_.end(protocol_error("callback", "more at once than this side has room for"));
  }
  slot->start(*this, xid, std::move(call));
  in_use_.push_back(slot->in_use_);
  ++open_;
  slot->dispatch(observer_, link_.counters().undecodable_callback_lines, link_.reactor().now());
}

void BackwardResponder::send_reply(BackwardCallSlot& slot) {
  --open_;
  if (link_.ending()) return slot.on_sent();
  slot.set_message(slot.results());
  link_.post(slot);
}

void BackwardResponder::on_down() {
  in_use_.for_each([this](BackwardCallSlot::InUse& node) {
    node.unlink();
    node.slot.responder_ = nullptr;
    if (node.slot.answered_) pool_.give_back(node.slot);  // its reply was not sent whole
  });
  open_ = 0;
}

}  // namespace nfsrdma::tcp
