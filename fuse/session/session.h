// A mounted FUSE session: the kernel's side of one mount point, from mount to unmount.
#pragma once

#include <fuse_lowlevel.h>

#include <memory>
#include <string>
#include <vector>

#include "fuse/session/in_flight.h"
#include "fuse/session/receiver.h"

namespace nfsrdma::fs {

struct SessionConfig {
  std::string mount_point;  ///< absolute
  /// For mount(2) or fusermount3, each as it would stand in a mount list: "ro", "allow_other",
  /// "fsname=server:/export". Values need no escaping. max_read is added.
  std::vector<std::string> mount_options;
  TransferLimits limits;
  CallerPolicy callers;
  AnswerLimit answer_limit;
};

/// Owns libfuse's session and the device. Belongs to one reactor. Destroying it ends the connection
/// with the kernel (requests in progress fail) and takes a mount that is still there out of the
/// tree, however used; unmount.h has the orderly way.
class Session {
 public:
  /// `operations` are libfuse's, with `user_data` as their user data; init is this class's own.
  /// Data of requests lies in slots of `slots`, which are at least kSlotSize.
  static Result<std::unique_ptr<Session>> create(Reactor& reactor, BufferPool& slots,
                                                 SessionConfig config,
                                                 const fuse_lowlevel_ops& operations,
                                                 void* user_data);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Mounts, directly or through fusermount3, and makes the device non-blocking. Blocks for as long
  /// as that takes. The error's detail says what to do.
  Result<void> mount();
  /// Starts receiving. The observer outlives the session.
  Result<void> start(ReceiverObserver& observer);
  /// Takes no new requests from the kernel. Not from within an operation.
  void pause() {
    if (receiver_) receiver_->pause();
  }

  /// The mount's device, "0:53", which tells it from others on the same directory. Empty before
  /// mount(), or when somebody has unmounted it at once.
  const std::string& device() const { return device_; }
  /// For notifications to the kernel.
  fuse_session& handle() { return *session_; }
  InFlight& in_flight() { return in_flight_; }
  const SessionConfig& config() const { return config_; }
  void visit_counters(CounterVisitor& visitor) const { in_flight_.counters().visit(visitor); }

 private:
  struct DestroySession {
    void operator()(fuse_session* session) const { fuse_session_destroy(session); }
  };

  Session(Reactor& reactor, BufferPool& slots, SessionConfig config);

  Reactor& reactor_;
  BufferPool& slots_;
  SessionConfig config_;
  std::string device_;
  InFlight in_flight_;
  std::unique_ptr<fuse_session, DestroySession> session_;
  std::unique_ptr<Receiver> receiver_;
};

}  // namespace nfsrdma::fs
