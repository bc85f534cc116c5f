// The memory of one incoming message, whose bytes may be read long after its connection is gone.
//
//   free -> held (it is being received or read) -> free
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <span>

#include "transport/base/buffer.h"
#include "transport/rpc/call.h"
#include "transport/rpc/message_pool.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::tcp {

class Message final : public rpc::MessageBuffer, public ListNode {
 public:
  Message(rpc::MessagePool<Message>& pool, Buffer storage)
      : pool_(pool), storage_(std::move(storage)) {}

  std::span<std::byte> memory() const { return storage_.bytes(); }
  /// The reader lets go. From MessageBuffer.
  void release() override {
    assert(!linked() && "I5: only its reader can let go of a message");
    pool_.give_back(*this);
  }

  /// The result that was received elsewhere: here, so that it lives as long as the decoder that
  /// refers to it.
  std::array<xdr::PlacedItem, 1> placed;

 private:
  rpc::MessagePool<Message>& pool_;
  Buffer storage_;
};

using MessagePool = rpc::MessagePool<Message>;

}  // namespace nfsrdma::tcp
