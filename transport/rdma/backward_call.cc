#include "transport/rdma/backward_call.h"

#include <algorithm>
#include <cassert>

#include "transport/rdma/backward_responder.h"

namespace nfsrdma::rdma {

BackwardCallSlot::BackwardCallSlot(BackwardCallPool& pool, Buffer memory)
    : pool_(pool), memory_(std::move(memory)) {}

void BackwardCallSlot::start(BackwardResponder& responder, std::uint32_t xid,
                             std::span<const std::byte> call, rpc::MessageRef message) {
  responder_ = &responder;
  const std::size_t room = std::min(responder.max_message(), memory_.size()) - kMinHeader;
  receive(xid, call, std::move(message), memory_.bytes().subspan(kMinHeader, room));
}

void BackwardCallSlot::answer(rpc::AcceptStat status) {
  assert(!sending_ && "a callback is answered once");
  finish(status);
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
  slot.drop_message();
  free_.push_front(slot);
  --in_use_;
}

}  // namespace nfsrdma::rdma
