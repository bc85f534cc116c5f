// Tells the kernel that its cached pages, attributes or names of a file are stale.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fuse/kernel/drop_thread.h"
#include "fuse/kernel/inode.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/task.h"

namespace nfsrdma::fuse {

/// Dropping attributes is done at once. Dropping cached pages waits in the kernel for pages that
/// are being read or written, that is for answers of this program, so threads of its own do it.
/// Two: the WRITE that an order of one thread waits for may itself wait for an order of the other.
/// A third has names looked up anew, which waits for the directory. All methods belong to the
/// shard.
class KernelNotifier {
 public:
  explicit KernelNotifier(Reactor& reactor) : reactor_(reactor) {}
  KernelNotifier(const KernelNotifier&) = delete;
  KernelNotifier& operator=(const KernelNotifier&) = delete;

  /// Until then nothing is dropped.
  void attach(std::shared_ptr<KernelOrders> kernel) { kernel_ = std::move(kernel); }
  /// Drops nothing more. Waits a bounded time for orders in flight.
  Task<void> stop();

  void drop_attributes(std::uint64_t inode);
  /// Drops pages that the kernel may have up to date, before a write from the page cache is
  /// answered. The kernel may have locked one of them for the write meanwhile, so the wait is
  /// bounded.
  Task<void> drop_some_pages(InodeRef inode, PageRange pages);
  /// Drops pages of a write from the page cache that are not locked for it. Waits for the READs in
  /// flight, then until the pages are gone.
  Task<void> drop_written_pages(InodeRef inode, PageRange pages);
  /// Drops pages before a direct write is answered. Waits for the READs in flight, then a bounded
  /// time: the kernel may be finishing a write through the page cache, with a page locked.
  Task<void> drop_pages_beside_direct(InodeRef inode, PageRange pages);
  /// Drops all and waits until they are gone; begins when the READs in flight have been answered.
  /// The thread cannot be killed while it waits for a page, and keeps the whole program from
  /// ending, and other files' pages from being dropped; an answer may take as long as the server
  /// likes. Never from an operation that the kernel waits for with a page locked (READ, WRITE).
  Task<void> drop_pages_now(InodeRef inode);

  /// Makes the kernel look up these names anew, soon: the order waits for operations on the
  /// directory. Open files and working directories stay. Linux before 6.2 knows no such order, and
  /// goes on believing the names.
  void doubt_names(const Inode& directory, std::vector<std::string> names);
  /// What the kernel is to forget of one file.
  struct Known {
    std::uint64_t inode = 0;
    std::uint64_t directory = 0;  ///< where it has the name; 0: no name is known
    std::string name;
  };
  /// Makes the kernel forget these files, as far as they are not in use: Linux 6.18 and later by
  /// their inodes, others by their names. `done` is called on the thread that has done it, or never
  /// if this is stopped before. False: there is no kernel to give orders to.
  bool forget(std::vector<Known> files, std::function<void()> done);
  /// See KernelOrders. Before it is attached the kernel has been told nothing.
  bool kernel_doubts_refuted_names() const { return !kernel_ || kernel_->doubts_refuted_names(); }
  /// See KernelOrders.
  bool kernel_waits_for_pages() const { return kernel_ && kernel_->waits_for_pages(); }
  std::uint64_t names_doubted() const { return names_doubted_.value(); }

  std::uint64_t notifications() const { return notifications_.value(); }
  /// How often the wait for pages of a write has ended without success.
  std::uint64_t given_up() const { return given_up_.value(); }

 private:
  Task<void> drop(DropThread& thread, InodeRef inode, PageRange pages, Duration patience);

  Reactor& reactor_;
  std::shared_ptr<KernelOrders> kernel_;
  Counter notifications_;
  Counter given_up_;
  Counter names_doubted_;
  DropThread drops_;
  DropThread drops_of_writes_;  ///< for callers with locked pages: waits for no other drop
  DropThread names_;
};

}  // namespace nfsrdma::fuse
