#include "transport/tcp/message_pool.h"

#include <cassert>

namespace nfsrdma::tcp {

void Message::release() { pool_.give_back(*this); }

Result<std::unique_ptr<MessagePool>> MessagePool::create(std::size_t size, std::size_t count) {
  auto memory = BufferPool::create(size, count);
  if (!memory) return fail_from(memory);
  std::unique_ptr<MessagePool> pool(new MessagePool);
  pool->memory_ = std::move(*memory);
  pool->messages_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    pool->messages_.push_back(std::make_unique<Message>(*pool, pool->memory_->acquire()));
    pool->free_.push_back(*pool->messages_.back());
  }
  return pool;
}

MessagePool::~MessagePool() { assert(in_use_ == 0 && "I5: a reply outlives its transport"); }

Message* MessagePool::take() {
  Message* message = free_.pop_front();
  if (!message) return nullptr;
  assert(!message->held_ && "I2: a message in use must not be received into");
  message->held_ = true;
  ++in_use_;
  return message;
}

void MessagePool::give_back(Message& message) {
  assert(message.held_ && "I5: only its reader can let go of a message");
  message.held_ = false;
  --in_use_;
  free_.push_front(message);  // the most recently used one is the warmest
  if (auto* waiter = waiters_.pop_front()) waiter->on_message_free();
}

}  // namespace nfsrdma::tcp
