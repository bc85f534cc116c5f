// Memory for incoming messages. It belongs to the server, not to a connection: a Reply may view a
// message long after its connection is gone.
//
//   free -> held (a message is being received or read) -> free
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/result.h"
#include "transport/rpc/call.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::tcp {

class MessagePool;

class Message final : public rpc::MessageBuffer, public ListNode {
 public:
  Message(MessagePool& pool, Buffer storage) : pool_(pool), storage_(std::move(storage)) {}

  std::span<std::byte> memory() const { return storage_.bytes(); }
  /// The reader lets go. From MessageBuffer.
  void release() override;

  /// The result that was received elsewhere: here, so that it lives as long as the decoder that
  /// refers to it.
  std::array<xdr::PlacedItem, 1> placed;

 private:
  friend class MessagePool;
  MessagePool& pool_;
  Buffer storage_;
  bool held_ = false;
};

/// Told when a message became free. Called from within the release: may only take note. It leaves
/// the queue when it is called.
class MessageWaiter : public ListNode {
 public:
  virtual void on_message_free() = 0;

 protected:
  ~MessageWaiter() = default;
};

/// I5: the free list holds no message that is being read or received into.
class MessagePool {
 public:
  /// `size` bytes for each of `count` messages.
  static Result<std::unique_ptr<MessagePool>> create(std::size_t size, std::size_t count);
  ~MessagePool();

  /// Null when there is none.
  Message* take();
  std::size_t in_use() const { return in_use_; }
  void wait(MessageWaiter& waiter) { waiters_.push_back(waiter); }

 private:
  friend class Message;
  MessagePool() = default;
  void give_back(Message& message);

  std::unique_ptr<BufferPool> memory_;
  std::vector<std::unique_ptr<Message>> messages_;
  IntrusiveList<Message> free_;
  std::size_t in_use_ = 0;
  IntrusiveList<MessageWaiter> waiters_;
};

}  // namespace nfsrdma::tcp
