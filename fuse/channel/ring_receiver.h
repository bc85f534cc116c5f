// The receive loop on an io_uring: FUSE's second channel, beside /dev/fuse, which goes on bringing
// FUSE_INIT, FORGET and INTERRUPT, and taking notifications.
#pragma once

#include <memory>
#include <vector>

#include "fuse/channel/dispatcher.h"
#include "fuse/channel/ring.h"
#include "fuse/channel/ring_entries.h"
#include "transport/base/buffer.h"
#include "transport/base/reactor.h"

namespace nfsrdma::fuse {

/// Gives requests in the ring's entries to the dispatcher. Entries are handed to the kernel
/// together, once an event. Belongs to the reactor's thread; requests that it has brought may be
/// answered as long as it lives, also after close().
class RingReceiver final : private RingCommits, private FdHandler, private BufferWaiter {
 public:
  /// On the reactor's thread, before FUSE_INIT is answered: without a ring it must not agree to
  /// one. All references outlive the receiver; `device` is /dev/fuse.
  static Result<std::unique_ptr<RingReceiver>> create(Reactor& reactor, BufferPool& slots,
                                                      InFlight& in_flight, int device);
  RingReceiver(const RingReceiver&) = delete;
  RingReceiver& operator=(const RingReceiver&) = delete;
  ~RingReceiver() { close(); }

  /// After FUSE_INIT: the kernel sends nothing before every queue has its entries. When it refuses
  /// them, it sends all requests over /dev/fuse.
  void start(Dispatcher& dispatcher, const KernelChannel& agreed);
  /// Dispatches nothing any more and gives its slot back; answers still go out. What waits for a
  /// slot is answered ECONNABORTED, as by the end of the connection. Not from within an operation.
  void pause();
  /// Takes all entries back from the kernel. Before /dev/fuse is closed, which they keep open.
  void close();
  std::size_t queues() const { return queues_.size(); }

 private:
  struct Queue {
    std::vector<std::unique_ptr<RingEntries>> entries;
    std::size_t made = 0;
    std::size_t busy = 0;  ///< of them, with a request that has no answer
  };

  RingReceiver(Reactor& reactor, BufferPool& slots, InFlight& in_flight);

  void commit(RingEntry& entry) override;
  void on_ready(std::uint32_t) override { turn(); }
  void on_buffer_available() override { resume_.arm(Duration::zero()); }
  void back_with_slots();
  Result<void> grow(std::uint16_t queue, std::size_t count);
  void turn();
  void hand_over();
  void register_new();
  void completed(RingEntry& entry, int result);
  void serve_come();
  bool serve(RingEntry& entry);
  void let_wait(RingEntry& entry);
  bool copy_into_slot(Message& message);

  Reactor& reactor_;
  BufferPool& slots_;
  InFlight& in_flight_;
  std::unique_ptr<Ring> ring_;
  Dispatcher* dispatcher_ = nullptr;
  const KernelChannel* agreed_ = nullptr;
  std::vector<Queue> queues_;
  IntrusiveList<RingEntry> new_;       ///< to be registered
  IntrusiveList<RingEntry> answered_;  ///< to be committed
  IntrusiveList<RingEntry> arrived_;   ///< each with a request that has just come
  IntrusiveList<RingEntry> for_slot_;  ///< each with one that waits for a slot, in their order
  std::size_t first_entries_ = 0;      ///< of each queue
  Buffer slot_;
  bool paused_ = false;
  bool refused_ = false;
  Deferred turn_;
  Timer resume_;
};

}  // namespace nfsrdma::fuse
