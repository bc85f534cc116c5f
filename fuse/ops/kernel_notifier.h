// Tells the kernel that what it has cached of a file is out of date.
#pragma once

#include <fuse_lowlevel.h>

#include <cstdint>
#include <memory>
#include <thread>

#include "fuse/inode/inode.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/task.h"

namespace nfsrdma::fs {

/// Dropping attributes is done at once. Dropping cached pages waits in the kernel for pages that
/// are being read, that is for answers of this program, so a thread of its own does it. All methods
/// belong to the shard.
class KernelNotifier {
 public:
  KernelNotifier();
  KernelNotifier(const KernelNotifier&) = delete;
  KernelNotifier& operator=(const KernelNotifier&) = delete;
  /// A thread that the kernel still holds is left to itself; the end of the program ends it.
  ~KernelNotifier();

  void attach(fuse_session& session);
  /// Drops nothing more. Waits a bounded time for a notification under way; the session may go
  /// afterwards.
  Task<void> stop(Reactor& reactor);

  void drop_attributes(std::uint64_t inode);
  /// Drops the pages from `begin` to `end` before a write is answered, of those that the kernel may
  /// have up to date. One of them may have gone since and be locked for the write, so the wait is
  /// bounded.
  Task<void> drop_some_pages(Reactor& reactor, InodeRef inode, std::uint64_t begin,
                             std::uint64_t end);
  /// Drops all and waits until they are gone; begins when the READs under way have been answered.
  /// The thread cannot be killed while it waits for a page, and keeps the whole program from
  /// ending, and other files' pages from being dropped; an answer may take as long as the server
  /// likes. Never from an operation that the kernel waits for with a page locked (READ, WRITE).
  Task<void> drop_pages_now(Reactor& reactor, InodeRef inode);

  std::uint64_t notifications() const { return notifications_.value(); }
  /// How often the wait for pages of a write has ended without success.
  std::uint64_t given_up() const { return given_up_.value(); }

 private:
  struct Shared;

  void start_thread();
  struct Drop;
  void enqueue(Drop drop);

  fuse_session* session_ = nullptr;
  Counter notifications_;
  Counter given_up_;
  std::shared_ptr<Shared> shared_;  ///< with the thread
  std::thread thread_;
};

}  // namespace nfsrdma::fs
