#include "transport/rdma/receive_pool.h"

#include <algorithm>
#include <cassert>

namespace nfsrdma::rdma {

Message::Message(ReceivePool& pool, Buffer storage, std::size_t size)
    : pool_(pool), storage_(std::move(storage)), size_(size) {}

void Message::lend(const void* owner, std::size_t size) {
  assert(state_ == State::free && !linked() && "I2: a buffer in use must not be posted");
  memory = storage_.first(size == 0 ? size_ : std::min(size, size_));
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
  pool_.give_back(*this);
}

Result<std::unique_ptr<ReceivePool>> ReceivePool::create(std::size_t size, std::size_t count) {
  auto memory = BufferPool::create(size, count);
  if (!memory) return fail_from(memory);
  std::unique_ptr<ReceivePool> pool(new ReceivePool);
  pool->memory_ = std::move(*memory);
  pool->messages_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    pool->messages_.push_back(std::make_unique<Message>(*pool, pool->memory_->acquire(), size));
    pool->free_.push_back(*pool->messages_.back());
  }
  pool->available_ = count;
  return pool;
}

Message* ReceivePool::take() {
  Message* message = free_.pop_front();
  if (message) --available_;
  return message;
}

ReceivePool::~ReceivePool() {
  assert(available_ == messages_.size() && "I5: a reply outlives its transport");
}

std::size_t ReceivePool::in_state(Message::State state) const {
  return static_cast<std::size_t>(
      std::count_if(messages_.begin(), messages_.end(),
                    [state](const auto& message) { return message->state() == state; }));
}

void ReceivePool::reclaim(const void* owner) {
  for (auto& message : messages_) {
    if (message->state_ != Message::State::posted || message->owner_ != owner) continue;
    message->unlink();
    give_back(*message);
  }
}

void ReceivePool::give_back(Message& message) {
  message.state_ = Message::State::free;
  message.owner_ = nullptr;
  free_.push_front(message);  // the most recently used one is the warmest
  ++available_;
  if (auto* waiter = waiters_.pop_front()) waiter->on_receive_buffer_free();
}

}  // namespace nfsrdma::rdma
