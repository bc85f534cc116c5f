// A thread that orders the kernel to drop cached pages, attributes and names.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "fuse/kernel/kernel_orders.h"
#include "transport/base/reactor.h"
#include "transport/base/task.h"

namespace nfsrdma::fuse {

/// Gives one order after the other: each returns when the kernel has dropped, and blocks while a
/// page or a directory is locked. The thread starts with the first order. All methods belong to the
/// shard.
class DropThread {
 public:
  struct Order {
    std::function<void(KernelOrders&)> follow;  ///< called on this thread
    std::function<void()> done;                 ///< called on it afterwards; may be empty
  };

  DropThread();
  DropThread(const DropThread&) = delete;
  DropThread& operator=(const DropThread&) = delete;
  /// A thread that stop() has not seen ending is left to itself; the end of the program ends it.
  ~DropThread();

  void order(std::shared_ptr<KernelOrders> kernel, Order order);
  /// Gives no further order. Waits a bounded time for the one in flight.
  Task<void> stop(Reactor& reactor);

 private:
  struct Shared;

  /// Refers to the thread's own copies.
  static void follow_orders(const std::shared_ptr<Shared>& shared,
                            const std::shared_ptr<KernelOrders>& kernel);
  void end();

  std::shared_ptr<Shared> shared_;  ///< with the thread
  std::thread thread_;
  bool stopped_ = false;
};

}  // namespace nfsrdma::fuse
