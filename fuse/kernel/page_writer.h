// Makes the kernel write the pages that programs have changed through a mapping.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "fuse/kernel/inode.h"
#include "fuse/kernel/kernel_notifier.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/sync/event.h"
#include "transport/base/task.h"

namespace nfsrdma::fuse {

/// A store to a shared mapping makes a page dirty, and the kernel tells of it only when it writes
/// the page: by itself half a minute later. FUSE has no order to write. An order to drop pages has
/// the dirty ones written before, but the others go as well.
///
/// So a thread of this program has them written by sync_file_range(2). It opens the file through
/// the mount, under a secret name in the root that no other thread can look up; the descriptor is
/// answered here, and is no open of the file to the server. The thread has no descriptor of the
/// kernel's device: when the program is killed, the connection ends, and so does the wait for a
/// WRITE. Where the file cannot be opened so, its pages are dropped.
///
/// Belongs to the shard.
class PageWriter final : private FdHandler {
 public:
  /// How the caller in the kernel allows the file to be opened.
  enum class Opens : std::uint8_t {
    keeps,  ///< holds no lock of the kernel's, and has the file open: the descriptor stays until
            ///< close()
    /// Has the file or a directory locked. A process that has the root directory locked may wait
    /// for that lock, and a look-up in the root would wait for this process. A descriptor that is
    /// kept is used.
    never,
  };

  /// `mount_point`: the path by which this program reaches the mount; empty: pages are dropped.
  /// `notifier` outlives this.
  PageWriter(Reactor& reactor, KernelNotifier& notifier, const std::string& mount_point);
  PageWriter(const PageWriter&) = delete;
  PageWriter& operator=(const PageWriter&) = delete;
  /// A thread that the kernel still holds is left to itself.
  ~PageWriter();

  /// Returns when the kernel has sent all stores to the file from before the call, and has had an
  /// answer. Does nothing where the kernel can have none. The WRITEs must be able to go on
  /// meanwhile; a caller whose request truncates the file must not call it.
  Task<void> write(InodeRef inode, Opens opens);
  /// The same with Opens::never, for a caller that a truncation of the file may wait for: ends
  /// early while there is one.
  Task<void> write_unless_truncating(InodeRef inode);
  /// Whether the thread has a descriptor of the file.
  bool keeps(const Inode& inode) const { return kept(inode.id()); }
  /// A program is closing a descriptor of the file: afterwards the mount may have to be free.
  Task<void> close(InodeRef inode);
  /// Waits a bounded time for the thread.
  Task<void> stop();

  /// The file that a look-up by this caller is for; null: the name is none of this class.
  InodeRef asked_for(const Inode& directory, std::string_view name, pid_t caller) const;
  /// Whether an OPEN of the file is the thread's.
  bool opens(const Inode& inode, pid_t caller) const;
  /// The number of the thread's open files for the kernel.
  static constexpr std::uint64_t kHandle = ~std::uint64_t{0};

  /// How often the thread was sent.
  std::uint64_t orders() const { return orders_.value(); }

 private:
  struct Shared;
  struct Order;
  using OrderRef = std::shared_ptr<Order>;

  static void follow_orders(std::shared_ptr<Shared> shared);
  Task<void> write_and_set(InodeRef inode, std::shared_ptr<Event> written);
  bool start_thread();
  bool may_order(const InodeRef& inode, Opens opens) const;
  bool kept(std::uint64_t inode) const;
  void give(OrderRef order, std::uint64_t id, bool writes);
  Task<bool> order(InodeRef inode, bool writes);
  Task<void> end_of_thread();
  void end_thread();
  void on_ready(std::uint32_t events) override;

  Reactor& reactor_;
  KernelNotifier& notifier_;
  std::string name_;
  std::shared_ptr<Shared> shared_;  ///< with the thread
  std::thread thread_;
  std::deque<OrderRef> given_;      ///< to the thread, the one it follows first
  std::deque<std::uint64_t> kept_;  ///< files whose descriptor it has, the oldest first
  bool ended_ = false;
  Counter orders_;
};

}  // namespace nfsrdma::fuse
