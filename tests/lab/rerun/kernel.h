// The kernel of a rerun.
#pragma once

#include <thread>
#include <unordered_set>

#include "fuse/channel/dispatcher.h"
#include "fuse/channel/in_flight.h"
#include "tests/lab/rerun/reactor.h"
#include "transport/base/buffer.h"

namespace nfsrdma::lab::rerun {

/// Brings the requests of the recording, and compares the answers; does with its buffer what
/// fuse::Receiver did.
class RerunKernel final : public fuse::KernelChannel, private BufferWaiter {
 public:
  /// All outlive it.
  RerunKernel(World& world, RerunReactor& reactor, BufferPool& slots, fuse::CallerPolicy callers,
              fuse::AnswerLimit limit);

  /// What is served, from now on. A step of its own: its parts look outside in this order.
  void serve(fuse::Serving serving);
  /// Kind::request, Kind::slot.
  void request(const Entry& entry);
  void slot(const Entry& entry);
  /// Has a buffer if there is one.
  void take_slot() {
    if (!slot_) slot_ = slots_.acquire();
  }

  int send(std::span<const iovec> parts) override;

 private:
  void on_buffer_available() override {}  // the recording says when

  World& world_;
  RerunReactor& reactor_;
  BufferPool& slots_;
  const std::thread::id shard_ = std::this_thread::get_id();
  fuse::InFlight in_flight_;
  std::optional<fuse::Dispatcher> dispatcher_;
  Buffer slot_;
  std::unordered_set<std::uint64_t> reads_;
};

}  // namespace nfsrdma::lab::rerun
