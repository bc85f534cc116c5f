// Makes the kernel take in the size of a file at a moment that this program chooses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "fuse/kernel/inode.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/sync/async_mutex.h"
#include "transport/base/sync/event.h"
#include "transport/base/task.h"

namespace nfsrdma::fuse {

/// The kernel takes in attributes only for a caller that has asked for them, and ignores the answer
/// when a write of another caller, or an order to drop something, has come in between. The caller
/// then reads on with the old length of the file. No notification makes a file shorter.
///
/// So a thread of this program asks: it looks up a secret name in the root of the mount, gets the
/// file's attributes as the answer, and reads back the kernel's size, until that is right. The name
/// is forgotten at once. The thread has no descriptor of the kernel's device: when the program is
/// killed, the connection ends, and so does the wait for an answer.
///
/// Belongs to the shard. Only for operations whose caller has locked neither a page of the file nor
/// a directory: LOCK, OPEN, and GETATTR for read(2).
class SizeRevalidator final : private FdHandler {
 public:
  /// `mount_point`: the path by which this program reaches the mount; empty: tell() does nothing.
  SizeRevalidator(Reactor& reactor, const std::string& mount_point);
  SizeRevalidator(const SizeRevalidator&) = delete;
  SizeRevalidator& operator=(const SizeRevalidator&) = delete;
  /// A thread that the kernel still holds is left to itself.
  ~SizeRevalidator();

  /// Returns when the kernel has the size that stat(2) is shown, as KernelView::size() then says,
  /// or after a bounded time without success.
  Task<void> tell(InodeRef inode);
  /// Whether a LOOKUP is for the secret name.
  bool is_asked_for(const Inode& directory, std::string_view name) const;
  /// The file that a look-up of the secret name is answered with; null: there is none.
  InodeRef answered() const { return target_; }
  /// The kernel is being answered with this size.
  void telling(std::uint64_t size) { advertised_ = size; }
  /// Waits a bounded time for the thread.
  Task<void> stop();

  /// How often the thread has looked.
  std::uint64_t looks() const { return looks_.value(); }

 private:
  struct Shared;

  static void look_when_asked(std::shared_ptr<Shared> shared);
  bool start_thread();
  Task<std::optional<std::uint64_t>> look();
  void end_thread();
  void on_ready(std::uint32_t events) override;

  Reactor& reactor_;
  std::string name_;
  std::shared_ptr<Shared> shared_;  ///< with the thread
  std::thread thread_;
  AsyncMutex one_at_a_time_;
  Event* back_ = nullptr;  ///< of the look that is awaited
  InodeRef target_;
  std::optional<std::uint64_t> advertised_;
  bool looking_ = false;  ///< the thread has not come back yet
  bool ended_ = false;
  Counter looks_;
};

}  // namespace nfsrdma::fuse
