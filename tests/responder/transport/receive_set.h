// The receive buffers of one connection.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::responder {

/// A receive buffer and the pool slot behind it.
struct Receive : fabric::ReceiveBuffer {
  explicit Receive(Buffer buffer) : slot(std::move(buffer)) {}
  Buffer slot;
};

/// Owns every buffer from the first post to the end of the connection; calls borrow them while they
/// look at a message (I1, I2). Belongs to the reactor's thread.
class ReceiveSet {
 public:
  /// `pool` must outlive the set; `message_size` is the largest message to be received.
  ReceiveSet(BufferPool& pool, std::size_t message_size)
      : pool_(pool), message_size_(message_size) {}

  /// Posts new buffers until `wanted` exist. An error when the pool is empty or the post failed.
  Result<void> grow(fabric::Endpoint& endpoint, std::size_t wanted);
  std::size_t size() const { return receives_.size(); }
  /// Receives that are posted from now on take larger messages. Returns whether no smaller one is
  /// left; else the repost() of the last one says so.
  bool raise(std::size_t message_size);
  /// Posts a receive again. `raised` tells that it was the last of the smaller ones.
  Result<void> repost(fabric::Endpoint& endpoint, Receive& receive, bool& raised);

 private:
  BufferPool& pool_;
  std::size_t message_size_;
  std::vector<std::unique_ptr<Receive>> receives_;
  std::size_t smaller_ = 0;  // receives that take less than message_size_
};

}  // namespace nfsrdma::responder
