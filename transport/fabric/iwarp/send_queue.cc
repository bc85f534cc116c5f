#include "transport/fabric/iwarp/send_queue.h"

namespace nfsrdma::fabric::iwarp {

Result<void> SendQueue::post_send(const SendWork& work) {
  SendEntry entry;
  entry.opcode = work.invalidate ? Opcode::send_invalidate : Opcode::send;
  entry.stag = work.invalidate.value_or(0);
  entry.context = work.context;
  return push(entry, work.pieces);
}

Result<void> SendQueue::post_write(std::span<const std::span<const std::byte>> pieces,
                                   const Segment& to) {
  SendEntry entry;
  entry.opcode = Opcode::rdma_write;
  entry.stag = to.handle;
  entry.to = to.offset;
  return push(entry, pieces);
}

Result<void> SendQueue::push(SendEntry entry, std::span<const std::span<const std::byte>> pieces) {
  if (entries_.size() >= kMaxEntries) {
    return fail(
        Error{Layer::fabric, static_cast<int>(Fault::resources), "post", "the send queue is full"});
  }
  entry.first_piece = pieces_.tail();
  for (const auto& piece : pieces) {
    if (piece.empty()) continue;
    pieces_.push(piece);
    ++entry.pieces;
    entry.length += piece.size();
  }
  waiting_bytes_ += entry.length;
  entries_.push(entry);
  return {};
}

bool SendQueue::take_completed(SendEntry& entry) {
  if (!has_completed()) return false;
  entry = entries_.front();
  entries_.pop();
  for (std::size_t i = 0; i < entry.pieces; ++i) pieces_.pop();
  return true;
}

void SendQueue::clear() {
  entries_.clear();
  pieces_.clear();
  framed_ = written_ = entries_.tail();
  waiting_bytes_ = 0;
}

}  // namespace nfsrdma::fabric::iwarp
