// A mounted FUSE session: the kernel's side of one mount point, from mount to unmount.
#pragma once

#include <fuse_lowlevel.h>

#include <memory>
#include <string>
#include <vector>

#include "fuse/channel/device_channel.h"
#include "fuse/channel/in_flight.h"
#include "fuse/channel/own_mount.h"
#include "fuse/channel/receiver.h"
#include "fuse/channel/ring_receiver.h"

namespace nfsrdma::fuse {

/// The version of libfuse that is in use, "3.14.0", which may be newer than the one compiled
/// against.
inline const char* library_version() { return ::fuse_pkgversion(); }

struct KernelSessionConfig {
  std::string mount_point;  ///< absolute
  /// For mount(2) or fusermount3, each as it would stand in a mount list: "ro", "allow_other",
  /// "fsname=server:/export". Values need no escaping. max_read is added.
  std::vector<std::string> mount_options;
  TransferLimits limits;
  CallerPolicy callers;
  AnswerLimit answer_limit;
  /// Requests come over an io_uring, where the kernel offers that (Linux 6.14, fuse.enable_uring).
  bool io_uring = false;
  /// Where requests are noted, and answered through; outlives the session. Not with io_uring.
  RequestJournal* journal = nullptr;
};

/// Owns libfuse's session, which mounts, and the device. Belongs to one reactor. Destroying it ends
/// the connection with the kernel, but unmounts nothing: see unmount.h.
class KernelSession final : private ReceiverObserver {
 public:
  /// `handlers` are called with `served`; both outlive the session. Data of requests lies in slots
  /// of `slots`, which are at least kSlotSize.
  static Result<std::unique_ptr<KernelSession>> create(Reactor& reactor, BufferPool& slots,
                                                       KernelSessionConfig config,
                                                       const HandlerTable& handlers, void* served);
  KernelSession(const KernelSession&) = delete;
  KernelSession& operator=(const KernelSession&) = delete;
  ~KernelSession();

  /// Mounts, directly or through fusermount3, and makes the device non-blocking. Blocks for as long
  /// as that takes. The error's detail says what to do.
  Result<void> mount();
  /// Starts receiving; on the reactor's thread. The observer outlives the session.
  Result<void> start(ReceiverObserver& observer);
  /// Takes no new requests from the kernel. Not from within an operation.
  void pause() {
    if (receiver_) receiver_->pause();
    if (ring_) ring_->pause();
  }

  bool mounted() const { return session_ && fuse_session_fd(session_.get()) >= 0; }
  /// Ends the connection with the kernel, if it has not ended: every request that waits fails with
  /// ENOTCONN, and so does all further use of the mount. The observer is not told.
  void end_connection();

  /// Not known() before mount(), or if it was unmounted at once.
  const OwnMount& own_mount() const { return own_mount_; }
  /// /dev/fuse; once mounted.
  int device() const { return channel_.descriptor; }
  /// For notifications to the kernel.
  KernelChannel& channel() {
    return config_.journal ? static_cast<KernelChannel&>(*config_.journal) : channel_;
  }
  InFlight& in_flight() { return in_flight_; }
  void visit_counters(CounterVisitor& visitor) const { in_flight_.counters().visit(visitor); }

 private:
  struct DestroySession {
    void operator()(fuse_session* session) const { fuse_session_destroy(session); }
  };

  KernelSession(Reactor& reactor, BufferPool& slots, KernelSessionConfig config,
                const HandlerTable& handlers, void* served);

  void on_initialised() override;
  void on_receive_ended(const Error& reason) override { observer_->on_receive_ended(reason); }
  void prepare_ring();

  Reactor& reactor_;
  BufferPool& slots_;
  KernelSessionConfig config_;
  const HandlerTable& handlers_;
  void* served_;
  OwnMount own_mount_;
  DeviceChannel channel_;
  InFlight in_flight_;
  std::unique_ptr<fuse_session, DestroySession> session_;
  std::unique_ptr<Receiver> receiver_;
  std::unique_ptr<RingReceiver> ring_;
  ReceiverObserver* observer_ = nullptr;
};

}  // namespace nfsrdma::fuse
