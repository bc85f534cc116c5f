// One place of FUSE's io_uring: a request comes in it, and its answer goes out of it.
#pragma once

#include <span>

#include "fuse/channel/kernel_channel.h"
#include "fuse/channel/ring_format.h"
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

/// The channel of the one request that lies in it: send() is the answer. What the kernel is given
/// with the entry stays where it is as long as the ring: the headers and the payload's memory,
/// which is the entry's while a request waits for its answer, and the kernel's otherwise. On the
/// reactor's thread only; notifications go to /dev/fuse.
class RingEntry final : public KernelChannel, public ListNode {
 public:
  /// References and memory outlive the entry.
  RingEntry(RingCommits& commits, std::uint16_t queue, RingHeaders& headers,
            std::span<std::byte> payload);
  /// What FUSE_INIT has settled. Before the first request.
  void agree(const KernelChannel& with);

  /// A request has come. Its arguments lie in the entry until the answer.
  Message receive();
  /// ENODEV when the ring is gone, ENOENT when nothing waits for an answer.
  int send(std::span<const iovec> parts) override;
  /// The kernel has let go of the entry: what is sent from here on finds nobody.
  void close() { state_ = State::closed; }

  std::uint16_t queue() const { return queue_; }
  /// What the kernel finds the request by that is answered.
  std::uint64_t commit_id() const { return headers_.commit_id; }
  /// For RingCommand::add_entry.
  std::span<const iovec> memory() const { return memory_; }
  /// Bytes of the last answer behind its header.
  std::size_t answered_bytes() const { return headers_.payload_size; }

 private:
  enum class State : std::uint8_t { with_kernel, with_program, closed };

  RingCommits& commits_;
  const std::uint16_t queue_;
  State state_ = State::with_kernel;
  RingHeaders& headers_;
  const std::span<std::byte> payload_;
  const iovec memory_[2];
};

}  // namespace nfsrdma::fuse
