// Sends and RDMA Writes in posting order, from post to completion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/base/ring.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/rdmap_header.h"

namespace nfsrdma::fabric::iwarp {

/// One posted message. Its payload stays where it is; only the array of pieces is copied.
struct SendEntry {
  Opcode opcode = Opcode::send;
  std::uint32_t stag = 0;  ///< RDMA Write: where to; Send with Invalidate: what to invalidate
  std::uint64_t to = 0;    ///< RDMA Write
  std::uint64_t length = 0;
  Ring<std::span<const std::byte>>::Position first_piece = 0;
  std::size_t pieces = 0;
  void* context = nullptr;
};

class SendQueue {
 public:
  /// Messages that may wait at once; more is a defect of the consumer's flow control.
  static constexpr std::size_t kMaxEntries = 1 << 16;

  Result<void> post_send(const SendWork& work);
  Result<void> post_write(std::span<const std::span<const std::byte>> pieces, const Segment& to);

  /// The next message to put into FPDUs, or null. Valid until the next post.
  SendEntry* next() { return framed_ == entries_.tail() ? nullptr : &entries_[framed_]; }
  std::span<const std::byte> piece(const SendEntry& entry, std::size_t index) {
    return pieces_[entry.first_piece + index];
  }
  /// The message of next() is in FPDUs entirely.
  void mark_framed() { ++framed_; }
  /// Everything framed was written to the socket.
  void mark_written() { written_ = framed_; }
  /// Takes the oldest written message whose completion is still to be told; false when there is
  /// none.
  bool take_completed(SendEntry& entry);
  bool has_completed() const { return entries_.head() != written_; }
  /// Bytes posted and not yet framed.
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }
  void note_framed(std::uint64_t bytes) { waiting_bytes_ -= bytes; }
  void clear();

 private:
  Result<void> push(SendEntry entry, std::span<const std::span<const std::byte>> pieces);

  Ring<SendEntry> entries_;
  Ring<std::span<const std::byte>> pieces_;
  Ring<SendEntry>::Position framed_ = 0;   // entries before it are in FPDUs
  Ring<SendEntry>::Position written_ = 0;  // entries before it are written
  std::uint64_t waiting_bytes_ = 0;
};

}  // namespace nfsrdma::fabric::iwarp
