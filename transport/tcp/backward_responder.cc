#include "transport/tcp/backward_responder.h"

#include <utility>

namespace nfsrdma::tcp {

void BackwardCallSlot::answer(rpc::AcceptStat status) { reply(status); }

void BackwardResponder::on_call(std::uint32_t xid, Received call) {
  BackwardCallSlot* const slot = take_slot();
  if (!slot) return link_.counters().backward_overruns.add();
  slot->receive(xid, call.bytes, std::move(call.message), slot->memory_.bytes());
  dispatch(*slot);
}

void BackwardResponder::send(BackwardCallSlot& slot) {
  slot.set_message(slot.results());
  link_.post_urgent(slot);
}

}  // namespace nfsrdma::tcp
