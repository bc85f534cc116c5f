// An io_uring for FUSE's commands: submits them, and tells which have completed.
#pragma once

#include <liburing.h>
#include <sys/uio.h>

#include <memory>
#include <span>

#include "fuse/channel/ring_format.h"
#include "transport/base/result.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {

/// Used by the one thread that makes it. The kernel copies for a command only within enter(), so an
/// entry's memory is never touched by two at once.
class Ring {
 public:
  /// `device` is /dev/fuse and outlives the ring; `entries` commands are outstanding at once, as a
  /// rule. Fails where the kernel or the administrator (kernel.io_uring_disabled) has no io_uring.
  static Result<std::unique_ptr<Ring>> create(int device, unsigned entries);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  /// Takes all entries back from the kernel.
  ~Ring();

  /// An eventfd that is written to when there is something to enter() for. Never read: it is
  /// for edges (EPOLLET).
  int event() const { return event_.get(); }

  /// Prepares a command; `user` comes back with its completion. `memory` of add_entry are the
  /// headers and the payload, read within the next enter(). False: as many are prepared as one
  /// enter() takes.
  bool prepare(RingCommand command, const RingCommandArguments& arguments,
               std::span<const iovec> memory, void* user);
  /// Submits prepared commands, and lets the kernel deliver requests. One system call. False: not
  /// all commands were taken; the next call submits the rest.
  bool enter();
  /// Something came before enter() returned, of which event() says nothing: enter() once more.
  bool missed_event() const;

  /// Calls visit(void* user, int result) for each completion; it may prepare commands.
  template <class Visit>
  void visit_completions(Visit&& visit) {
    while (io_uring_cqe* completion = next_completion()) {
      void* const user = io_uring_cqe_get_data(completion);
      const int result = completion->res;
      io_uring_cqe_seen(&ring_, completion);
      visit(user, result);
    }
  }

 private:
  explicit Ring(int device) : device_(device) {}
  io_uring_cqe* next_completion();

  const int device_;
  io_uring ring_{};
  bool made_ = false;
  UniqueFd event_;
};

}  // namespace nfsrdma::fuse
