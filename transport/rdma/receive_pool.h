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
#include <span>

#include "transport/base/buffer.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/chunk_lists.h"
#include "transport/rpc/call.h"
#include "transport/rpc/message_pool.h"

namespace nfsrdma::rdma {

/// One buffer, and the message in it while it is held.
class Message final : public fabric::ReceiveBuffer, public rpc::MessageBuffer {
 public:
  enum class State : std::uint8_t { free, posted, held };

  Message(rpc::MessagePool<Message>& pool, Buffer storage);
  State state() const { return state_; }

  /// The provider has `size` bytes of it from now on. `owner` tells connections apart.
  void lend(const void* owner, std::size_t size);
  /// The provider gave it back with a message in it.
  void hold();
  /// The reader lets go. From MessageBuffer.
  void release() override;
  /// The connection to `owner` has ended: what its provider has of it comes back. Nothing
  /// otherwise.
  void reclaim(const void* owner);

  /// DDP-eligible results of this message that were placed by RDMA: here, so that they live as long
  /// as the decoders that refer to them.
  std::array<xdr::PlacedItem, kMaxWriteChunks> placed;

 private:
  void give_back();

  rpc::MessagePool<Message>& pool_;
  Buffer storage_;
  const void* owner_ = nullptr;
  State state_ = State::free;
};

class ReceivePool final : public rpc::MessagePool<Message> {
 public:
  using MessagePool::MessagePool;

  /// Messages lent to a provider, and messages being read.
  std::size_t in_state(Message::State state) const;
  /// Takes back everything lent to a connection that has ended.
  void reclaim(const void* owner);
};

}  // namespace nfsrdma::rdma
