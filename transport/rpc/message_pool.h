// Memory for incoming messages. It belongs to the server, not to a connection: a Reply may view a
// message long after its connection is gone.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"

namespace nfsrdma::rpc {

/// Told when a message became free. Called from within the release: may only take note. It leaves
/// the queue when it is called.
class MessageWaiter : public ListNode {
 public:
  virtual void on_message_free() = 0;

 protected:
  ~MessageWaiter() = default;
};

/// I5: the free list holds no message that somebody reads or receives into. `Message` is a ListNode
/// made from its pool and its memory. Belongs to one shard.
template <class Message>
class MessagePool {
 public:
  /// One message for each slot.
  explicit MessagePool(std::unique_ptr<BufferPool> memory) : memory_(std::move(memory)) {
    messages_.reserve(memory_->slots());
    while (available_ < memory_->slots()) {
      messages_.push_back(std::make_unique<Message>(*this, memory_->acquire()));
      free_.push_back(*messages_.back());
      ++available_;
    }
  }
  ~MessagePool() { assert(available_ == count() && "I5: a reply outlives its transport"); }

  /// For registration with a provider.
  BufferPool& memory() { return *memory_; }
  /// Null when there is none.
  Message* take() {
    Message* message = free_.pop_front();
    if (message) --available_;
    return message;
  }
  void give_back(Message& message) {
    free_.push_front(message);  // the most recently used one is the warmest
    ++available_;
    if (auto* waiter = waiters_.pop_front()) waiter->on_message_free();
  }
  void wait(MessageWaiter& waiter) { waiters_.push_back(waiter); }
  std::size_t available() const { return available_; }
  std::size_t in_use() const { return count() - available_; }
  std::size_t count() const { return messages_.size(); }

 private:
  std::unique_ptr<BufferPool> memory_;  // outlives the messages in it

 protected:
  std::vector<std::unique_ptr<Message>> messages_;

 private:
  IntrusiveList<Message> free_;
  std::size_t available_ = 0;
  IntrusiveList<MessageWaiter> waiters_;
};

}  // namespace nfsrdma::rpc
