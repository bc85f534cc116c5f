// Records what the kernel asks and what it is answered.
#pragma once

#include <optional>
#include <thread>
#include <unordered_set>

#include "fuse/channel/kernel_channel.h"
#include "transport/journal/journaled_reactor.h"

namespace nfsrdma::fuse {

/// Wraps the kernel's channel. Receivers record requests here, and requests are answered through
/// this. Belongs to the shard; send() may be called by any thread.
class RequestJournal final : public KernelChannel {
 public:
  /// The reactor outlives it. Made on the shard's thread.
  explicit RequestJournal(journal::JournaledReactor& reactor)
      : reactor_(reactor), shard_(std::this_thread::get_id()) {}

  /// Where answers and orders go; outlives what is sent there.
  void attach(KernelChannel& kernel) { kernel_ = &kernel; }
  /// The loop that serves the requests.
  journal::JournaledReactor& reactor() { return reactor_; }

  int send(std::span<const iovec> parts) override;

  /// Records a whole message, whose work lasts as long as `input`.
  void begin_request(std::optional<journal::Input>& input, std::span<const std::byte> bytes);
  /// Records what the receiver does with its buffer, as long as `input`.
  void begin_slot(std::optional<journal::Input>& input, journal::SlotStep step);

 private:
  journal::JournaledReactor& reactor_;
  const std::thread::id shard_;
  KernelChannel* kernel_ = nullptr;
  std::unordered_set<std::uint64_t> reads_;  ///< whose answers are data
};

/// The body of an answer: its header, and the bytes behind it, or size and hash of data read.
journal::Body answer_body(std::span<const iovec> parts, bool data);
/// The body of an order, whole.
journal::Body order_body(std::span<const iovec> parts);
/// What a message to the kernel begins with; zeros when it is cut off.
fuse_out_header header_of(std::span<const iovec> parts);

}  // namespace nfsrdma::fuse
