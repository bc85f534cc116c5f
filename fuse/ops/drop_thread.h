// A thread that orders the kernel to drop cached pages.
#pragma once

#include <fuse_lowlevel.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "fuse/inode/page_map.h"
#include "transport/base/reactor.h"
#include "transport/base/task.h"

namespace nfsrdma::fs {

/// One order after the other: each returns when the pages are gone, and the kernel waits for a page
/// that is locked. The thread starts with the first order. All methods belong to the shard.
class DropThread {
 public:
  struct Order {
    std::uint64_t inode = 0;
    PageRange pages = PageRange::all();
    std::function<void()> done;  ///< called on this thread
  };

  DropThread();
  DropThread(const DropThread&) = delete;
  DropThread& operator=(const DropThread&) = delete;
  /// A thread that stop() has not seen ending is left to itself; the end of the program ends it.
  ~DropThread();

  void order(fuse_session& session, Order order);
  /// Follows no order any more. Waits a bounded time for the one under way.
  Task<void> stop(Reactor& reactor);

 private:
  struct Shared;

  static void follow_orders(std::shared_ptr<Shared> shared, fuse_session* session);
  void end();

  std::shared_ptr<Shared> shared_;  ///< with the thread
  std::thread thread_;
  bool stopped_ = false;
};

}  // namespace nfsrdma::fs
