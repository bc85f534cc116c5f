// One place of FUSE's io_uring: a request comes in it, and its answer goes out of it.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "fuse/channel/kernel_channel.h"
#include "fuse/channel/request.h"
#include "fuse/channel/ring_format.h"
#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"

namespace nfsrdma::fuse {

class RingEntry;

/// Takes entries whose answer is complete, to hand them to the kernel.
class RingCommits {
 public:
  virtual void commit(RingEntry& entry) = 0;

 protected:
  ~RingCommits() = default;
};

/// The channel of the one request that lies in it: send() is the answer. Headers and payload keep
/// their addresses as long as the ring exists. Their memory is the entry's while a request waits
/// for its answer, and the kernel's otherwise.
///
/// Where there is a slot of the data pool behind the payload's address, the request's operation
/// borrows it: the kernel reads the bytes that the network places there, and the other way round.
/// An operation that goes on after the answer keeps the slot, and another one, or plain memory,
/// takes its place. On the reactor's thread only; notifications go to /dev/fuse.
class RingEntry final : public KernelChannel, public ListNode, private BufferOwner {
 public:
  /// References and memory outlive the entry. `payload` are whole pages.
  RingEntry(RingCommits& commits, std::uint16_t queue, RingHeaders& headers,
            std::span<std::byte> payload);
  /// Takes over the result of FUSE_INIT. Call before the first request.
  void agree(const KernelChannel& with);

  /// Puts a slot of the pool, which outlives close(), behind the payload's address. False: there is
  /// none to spare, and what was there stays; or it cannot have a second address, and plain memory
  /// is there. Not while the kernel has the entry. std::bad_alloc: there is no such memory.
  bool back_with_slot(BufferPool& pool);
  bool has_slot() const { return slot_ != nullptr; }
  /// It has parted with its slot, and the pool had no other one.
  bool lacks_slot() const { return pool_ && !slot_; }
  /// The slot behind the payload, until the answer or longer; once for each request.
  Buffer lend_slot();
  /// The slot is still lent.
  bool lent() const { return lent_; }
  /// Leaves a lent slot to its borrower; bytes of the answer in it stay in the payload.
  /// std::bad_alloc: there is no memory to put in the slot's place.
  void part_with_slot();
  /// Puts a short answer into the payload. Before the kernel gets the entry, and after
  /// part_with_slot(): a borrower's data would have it over their beginning.
  void place_short_answer();

  /// A request has come. Its arguments lie in the entry until the answer.
  Message receive();
  /// The request, while it waits for a slot; it may be answered early meanwhile.
  std::optional<Request> waiting;
  /// ENODEV when the ring is gone, ENOENT when nothing waits for an answer.
  int send(std::span<const iovec> parts) override;
  /// The kernel has given up the entry: answers from here on reach no caller.
  void close();

  std::uint16_t queue() const { return queue_; }
  /// The kernel's number for the request that is answered.
  std::uint64_t commit_id() const { return headers_.commit_id; }
  /// For RingCommand::add_entry.
  std::span<const iovec> memory() const { return memory_; }
  /// Bytes of the last answer that did not lie in the payload already.
  std::size_t copied_bytes() const { return copied_; }

 private:
  enum class State : std::uint8_t { with_kernel, with_program, closed };
  /// Of WRITE, whose data the slot holds: they may be sent after the answer, or once more.
  using ShortAnswer = std::array<std::byte, sizeof(fuse_write_out)>;

  void take_back(std::byte* data) override;
  /// Puts plain memory behind the payload's address.
  void put_own_memory();
  bool in_place(const iovec& part) const;
  std::byte* place() const { return slot_ ? slot_ : payload_.data(); }

  RingCommits& commits_;
  const std::uint16_t queue_;
  State state_ = State::with_kernel;
  bool lent_ = false;
  std::size_t copied_ = 0;
  ShortAnswer short_answer_{};
  std::size_t short_size_ = 0;  ///< bytes of it that are not in the payload yet
  RingHeaders& headers_;
  const std::span<std::byte> payload_;
  BufferPool* pool_ = nullptr;
  std::byte* slot_ = nullptr;  ///< the slot behind the payload, at its address in the pool
  const iovec memory_[2];
};

}  // namespace nfsrdma::fuse
