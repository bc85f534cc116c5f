#include "transport/tcp/backward_responder.h"

#include "transport/base/log.h"

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
  dispatch(*slot);
}

void BackwardResponder::dispatch(BackwardCallSlot& slot) {
  auto header = rpc::decode_call_header(slot.arguments_);
  if (header) {
    slot.header_ = *header;
    rpc::encode_accepted_reply(slot.results_, header->xid, rpc::AcceptStat::success);
    observer_.on_backward_call(slot);
  } else if (header.error().is(Layer::rpc, static_cast<int>(rpc::Fault::rpc_mismatch))) {
    rpc::encode_rpc_mismatch(slot.results_, slot.header_.xid);
    slot.answer(rpc::AcceptStat::success);
  } else {
    log::warning("a callback cannot be decoded: {}", header.error().message());
    slot.answer(rpc::AcceptStat::garbage_args);
  }
}

void BackwardResponder::send_reply(BackwardCallSlot& slot) {
  --open_;
  if (link_.ending()) return slot.on_sent();
  slot.set_message(slot.results_);
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
