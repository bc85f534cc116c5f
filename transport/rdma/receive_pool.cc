#include "transport/rdma/receive_pool.h"

#include <algorithm>
#include <cassert>

namespace nfsrdma::rdma {

Message::Message(rpc::MessagePool<Message>& pool, Buffer storage)
    : pool_(pool), storage_(std::move(storage)) {}

void Message::lend(const void* owner, std::size_t size) {
  assert(state_ == State::free && !linked() && "I2: a buffer in use must not be posted");
  memory = storage_.first(size);
  state_ = State::posted;
  owner_ = owner;
}

void Message::hold() {
  assert(state_ == State::posted && "I1: only a posted buffer can receive");
  state_ = State::held;
  owner_ = nullptr;
}

void Message::release() {
  assert(state_ == State::held && "I1, I5: only its reader can let go of a buffer");
  give_back();
}

void Message::reclaim(const void* owner) {
  if (state_ != State::posted || owner_ != owner) return;
  unlink();
  give_back();
}

void Message::give_back() {
  state_ = State::free;
  owner_ = nullptr;
  pool_.give_back(*this);
}

std::size_t ReceivePool::in_state(Message::State state) const {
  return static_cast<std::size_t>(
      std::count_if(messages_.begin(), messages_.end(),
                    [state](const auto& message) { return message->state() == state; }));
}

void ReceivePool::reclaim(const void* owner) {
  for (auto& message : messages_) message->reclaim(owner);
}

}  // namespace nfsrdma::rdma
