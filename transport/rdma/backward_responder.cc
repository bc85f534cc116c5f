#include "transport/rdma/backward_responder.h"

#include <algorithm>
#include <cassert>

#include "transport/rdma/fault.h"

namespace nfsrdma::rdma {

void BackwardCallSlot::answer(rpc::AcceptStat status) { reply(status); }

void BackwardResponder::on_call(const Header& header, std::span<const std::byte> payload,
                                rpc::MessageRef message) {
  xdr::Decoder first_word(payload);
  const bool same_xid = first_word.u32("xid") == header.rdma_xid && first_word.ok();
  if (!header.chunks.all_absent() || !same_xid) {  // BD-20, BD-18
    refuse(header, RdmaError{.err = ERR_CHUNK});
    return;
  }
  if (open_calls() >= link_.options().backward_credits) {
    link_.counters().backward_overruns.add();
    link_.counters().backward_overrun_lines.warning(
        link_.reactor().now(), "the server sent more callbacks at once than the {} it was granted",
        link_.options().backward_credits);
  }
  BackwardCallSlot* slot = take_slot();
  if (!slot) return;
  const std::size_t room = std::min(link_.thresholds().call, slot->memory_.size()) - kMinHeader;
  slot->receive(header.rdma_xid, payload, std::move(message),
                slot->memory_.bytes().subspan(kMinHeader, room));
  dispatch(*slot);
}

void BackwardResponder::refuse_version(const Header& header) {
  refuse(header,
         RdmaError{
             .err = ERR_VERS, .rdma_vers_low = link_.version(), .rdma_vers_high = link_.version()});
}

void BackwardResponder::refuse(const Header& header, const RdmaError& error) {
  link_.counters().backward_errors.add();
  BackwardCallSlot* slot = take_slot();
  if (!slot) return;
  answer_.rdma_xid = header.rdma_xid;
  answer_.rdma_vers = header.rdma_vers;
  answer_.proc = RDMA_ERROR;
  answer_.error = error;
  post(*slot, 0);
}

void BackwardResponder::send(BackwardCallSlot& slot) {
  answer_.rdma_xid = slot.header().xid;
  answer_.rdma_vers = link_.version();
  answer_.proc = RDMA_MSG;
  post(slot, slot.results().size());
}

void BackwardResponder::post(BackwardCallSlot& slot, std::size_t payload) {
  xdr::Encoder out(slot.header_memory());
  answer_.rdma_credit = link_.options().backward_credits;
  encode_header(out, answer_);
  assert(out.ok() && (payload == 0 || out.size() == kMinHeader));
  const std::span<const std::byte> piece = slot.memory_.first(out.size() + payload);
  slot.sending_ = true;
  fabric::SendWork work;
  work.pieces = {&piece, 1};
  work.context = static_cast<SendOwner*>(&slot);
  link_.post(work, answer_.proc);
}

}  // namespace nfsrdma::rdma
