// Buffers for incoming messages. They belong to the server, not to a connection: a Reply may view
// one long after its connection is gone.
//
//   free -> posted (lent to a provider) -> held (a message that someone reads) -> free
//
// I1: a buffer belongs to the provider from post to completion. I2: a held buffer is not posted.
// I5: the free list holds no buffer that a provider or a reader has. Every transition asserts them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/result.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/chunk_lists.h"
#include "transport/rpc/call.h"

namespace nfsrdma::rdma {

class ReceivePool;

/// One buffer, and the message in it while it is held.
class Message final : public fabric::ReceiveBuffer, public rpc::MessageBuffer {
 public:
  enum class State : std::uint8_t { free, posted, held };

  Message(ReceivePool& pool, Buffer storage, std::size_t size);
  State state() const { return state_; }

  /// The provider has it from now on, or `size` bytes of it (0: all). `owner` tells connections
  /// apart.
  void lend(const void* owner, std::size_t size = 0);
  /// The provider gave it back with a message in it.
  void hold();
  /// The reader lets go. From MessageBuffer.
  void release() override;

  /// DDP-eligible results of this message that were placed by RDMA: here, so that they live as long
  /// as the decoders that refer to them.
  std::array<xdr::PlacedItem, kMaxWriteChunks> placed;

 private:
  friend class ReceivePool;
  ReceivePool& pool_;
  Buffer storage_;
  std::size_t size_;
  const void* owner_ = nullptr;
  State state_ = State::free;
};

/// Told when a buffer became free. Called from within the release: may only take note. It leaves
/// the queue when it is called.
class ReceiveWaiter : public ListNode {
 public:
  virtual void on_receive_buffer_free() = 0;

 protected:
  ~ReceiveWaiter() = default;
};

class ReceivePool {
 public:
  /// `size` bytes for each of `count` messages.
  static Result<std::unique_ptr<ReceivePool>> create(std::size_t size, std::size_t count);
  ~ReceivePool();

  /// For registration with a provider.
  BufferPool& memory() { return *memory_; }

  /// A free buffer, to be lent at once; null when there is none.
  Message* take();
  std::size_t available() const { return available_; }
  std::size_t count() const { return messages_.size(); }
  /// Messages lent to a provider, and messages being read.
  std::size_t in_state(Message::State state) const;
  /// Takes back everything lent to a connection that has ended.
  void reclaim(const void* owner);
  void wait(ReceiveWaiter& waiter) { waiters_.push_back(waiter); }

 private:
  friend class Message;
  ReceivePool() = default;
  void give_back(Message& message);

  std::unique_ptr<BufferPool> memory_;
  std::vector<std::unique_ptr<Message>> messages_;
  IntrusiveList<Message> free_;
  std::size_t available_ = 0;
  IntrusiveList<ReceiveWaiter> waiters_;
};

}  // namespace nfsrdma::rdma
