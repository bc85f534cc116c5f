// The receive loop on /dev/fuse: reads requests into slots of the data pool and gives them to
// libfuse, which calls the operation.
#pragma once

#include <fuse_lowlevel.h>

#include "fuse/channel/in_flight.h"
#include "fuse/channel/init.h"
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
/// operation may take the slot (Request::take_buffer), all others leave it for the next request.
/// Without a free slot receiving pauses until one comes back, which is how load is passed on to
/// the kernel.
class Receiver final : private FdHandler, private BufferWaiter {
 public:
  /// All references outlive the receiver; `session` is mounted.
  Receiver(Reactor& reactor, BufferPool& slots, fuse_session& session, InFlight& in_flight,
           TransferLimits limits, ReceiverObserver& observer);
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  ~Receiver();

  Result<void> start();
  /// Takes no further requests and gives its slot back; the end of the session is still noticed.
  /// Not from within an operation.
  void pause();

 private:
  enum class State { idle, receiving, stalled, paused, ended };

  void on_ready(std::uint32_t events) override;
  void on_buffer_available() override;
  bool receive_one();
  void dispatch(const fuse_buf& request);
  void stall();
  void resume();
  void set_state(State state);
  void end(Error reason);

  Reactor& reactor_;
  BufferPool& slots_;
  fuse_session& session_;
  InFlight& in_flight_;
  const TransferLimits limits_;
  ReceiverObserver& observer_;
  const int device_;
  State state_ = State::idle;
  bool initialised_ = false;
  Buffer slot_;
  Timer resume_;
};

}  // namespace nfsrdma::fuse
