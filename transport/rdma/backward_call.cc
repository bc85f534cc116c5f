#include "transport/rdma/backward_call.h"

#include <algorithm>
#include <cassert>

#include "transport/rdma/backward_responder.h"
#include "transport/rpc/backward_answer.h"

namespace nfsrdma::rdma {

BackwardCallSlot::BackwardCallSlot(BackwardCallPool& pool, Buffer memory)
    : pool_(pool), memory_(std::move(memory)) {}

void BackwardCallSlot::start(BackwardResponder& responder, rpc::MessageRef message,
                             std::size_t max_message) {
  responder_ = &responder;
  message_ = std::move(message);
  header_ = {};
  const std::size_t room = std::min(max_message, memory_.size()) - kMinHeader;
  results_ = xdr::Encoder(memory_.bytes().subspan(kMinHeader, room));
}

void BackwardCallSlot::answer(rpc::AcceptStat status) {
  assert(!sending_ && "a callback is answered once");
  rpc::finish_backward_answer(results_, header_.xid, status);
  message_.reset();
  if (responder_) {
    responder_->send_reply(*this);
  } else {
    pool_.give_back(*this);
  }
}

void BackwardCallSlot::on_send_done() {
  assert(responder_);
  responder_->on_send_done(*this);
}

BackwardCallPool::BackwardCallPool(BufferPool& memory, std::size_t count) {
  slots_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    slots_.push_back(std::make_unique<BackwardCallSlot>(*this, memory.acquire()));
    free_.push_back(*slots_.back());
  }
}

BackwardCallSlot* BackwardCallPool::take() {
  BackwardCallSlot* slot = free_.pop_front();
  if (slot) ++in_use_;
  return slot;
}

void BackwardCallPool::give_back(BackwardCallSlot& slot) {
  assert(!slot.sending_ && !slot.linked() && "I4, I5: the provider still reads this reply");
  slot.responder_ = nullptr;
  slot.message_.reset();
  free_.push_front(slot);
  --in_use_;
}

}  // namespace nfsrdma::rdma
