#include "transport/tcp/backward_call.h"

#include <cassert>

#include "transport/tcp/backward_responder.h"

namespace nfsrdma::tcp {

BackwardCallSlot::BackwardCallSlot(BackwardCallPool& pool, Buffer memory)
    : pool_(pool), memory_(std::move(memory)), in_use_(*this) {}

void BackwardCallSlot::start(BackwardResponder& responder, std::uint32_t xid, Received call) {
  responder_ = &responder;
  receive(xid, call.bytes, std::move(call.message), memory_.bytes());
  answered_ = false;
}

void BackwardCallSlot::answer(rpc::AcceptStat status) {
  assert(!answered_ && "a callback is answered once");
  answered_ = true;
  finish(status);
  if (responder_) {
    responder_->send_reply(*this);
  } else {
    pool_.give_back(*this);
  }
}

void BackwardCallSlot::on_sent() {
  in_use_.unlink();
  pool_.give_back(*this);
}

BackwardCallPool::BackwardCallPool(BufferPool& memory, std::size_t count) {
  slots_.reserve(count);
  free_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    slots_.push_back(std::make_unique<BackwardCallSlot>(*this, memory.acquire()));
    free_.push_back(slots_.back().get());
  }
}

BackwardCallSlot* BackwardCallPool::take() {
  if (free_.empty()) return nullptr;
  BackwardCallSlot* slot = free_.back();
  free_.pop_back();
  ++in_use_;
  return slot;
}

void BackwardCallPool::give_back(BackwardCallSlot& slot) {
  assert(!slot.linked() && "I4: the kernel has not taken all of this reply");
  assert(!slot.in_use_.linked() && "I5: work is outstanding");
  free_.push_back(&slot);
  --in_use_;
}

}  // namespace nfsrdma::tcp
