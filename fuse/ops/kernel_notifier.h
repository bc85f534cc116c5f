// Tells the kernel that what it has cached of a file is out of date.
#pragma once

#include <fuse_lowlevel.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "transport/base/metrics.h"

namespace nfsrdma::fs {

/// Dropping attributes is done at once. Dropping cached pages waits in the kernel for pages that
/// are being read, that is for answers of this program, so a thread of its own does it.
/// drop_attributes and drop_pages belong to the shard.
class KernelNotifier {
 public:
  KernelNotifier() = default;
  KernelNotifier(const KernelNotifier&) = delete;
  KernelNotifier& operator=(const KernelNotifier&) = delete;
  ~KernelNotifier();

  void attach(fuse_session& session) { session_ = &session; }
  /// Ends the thread; the session may go afterwards. Waits for a notification under way, which the
  /// end of the kernel's connection unblocks.
  void detach();

  void drop_attributes(std::uint64_t inode);
  void drop_pages(std::uint64_t inode);

  std::uint64_t notifications() const { return notifications_.value(); }

 private:
  /// More than this many waiting: the rest is left to the attribute timeout.
  static constexpr std::size_t kMostWaiting = 4096;

  void run();

  fuse_session* session_ = nullptr;
  Counter notifications_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint64_t> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace nfsrdma::fs
