// The receive loop on /dev/fuse: reads requests into slots of the data pool and gives them to the
// dispatcher, which calls the operation.
#pragma once

#include "fuse/channel/device_channel.h"
#include "fuse/channel/dispatcher.h"
#include "fuse/channel/in_flight.h"
#include "fuse/channel/request_journal.h"
#include "transport/base/buffer.h"
#include "transport/base/reactor.h"

namespace nfsrdma::fuse {

/// Told by a Receiver, on the reactor's thread.
class ReceiverObserver {
 public:
  /// FUSE_INIT was answered: the mount is live. Comes once.
  virtual void on_initialised() = 0;
  /// The kernel has let go of the session (unmounted, aborted) or the device failed. Comes once;
  /// nothing is received afterwards.
  virtual void on_receive_ended(const Error& reason) = 0;

 protected:
  ~ReceiverObserver() = default;
};

/// Receives in the reactor, at most a fixed number of requests a turn. Each is read into a slot; an
/// operation may take the slot (ReadArguments::slot), all others leave it for the next request.
/// Without a free slot receiving pauses until one comes back, which is how load is passed on to
/// the kernel.
class Receiver final : private FdHandler, private BufferWaiter {
 public:
  /// All references outlive the receiver; `device` is mounted. `journal`: what is received is noted
  /// there, and answered through it; null: nowhere.
  Receiver(Reactor& reactor, BufferPool& slots, DeviceChannel& device, InFlight& in_flight,
           Serving serving, ReceiverObserver& observer, RequestJournal* journal = nullptr);
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  ~Receiver();

  Result<void> start();
  /// Takes no further requests and gives its slot back; the end of the session is still noticed.
  /// Not from within an operation.
  void pause();
  /// For other channels of the same mount.
  Dispatcher& dispatcher() { return dispatcher_; }

 private:
  enum class State { idle, receiving, stalled, paused, ended };

  void on_ready(std::uint32_t events) override;
  void on_buffer_available() override { resume_.arm(Duration::zero()); }
  bool receive_one();
  Buffer acquire();
  void wait_for_slot();
  void give_slot_back();
  void note(std::optional<journal::Input>& input, journal::SlotStep step) {
    if (journal_) journal_->begin_slot(input, step);
  }
  void dispatch(std::span<const std::byte> received);
  void stall();
  void resume();
  void set_state(State state);
  void end(const Error& reason);

  Reactor& reactor_;
  BufferPool& slots_;
  RequestJournal* const journal_;
  KernelChannel& channel_;
  const int device_;
  InFlight& in_flight_;
  Dispatcher dispatcher_;
  ReceiverObserver& observer_;
  State state_ = State::idle;
  Buffer slot_;
  Timer resume_;
};

}  // namespace nfsrdma::fuse
