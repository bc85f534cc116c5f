// Keeps the number of inodes, and so this program's memory, within a limit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "fuse/kernel/inode_table.h"
#include "fuse/kernel/kernel_notifier.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"

namespace nfsrdma::fuse {

/// The kernel alone decides when it forgets an inode, and does so when the machine's memory is
/// short: it knows nothing of a limit that this program's memory has. So from the limit on the
/// kernel is asked to forget the files that no request has named for the longest time, until an
/// eighth of the limit is free. Files in use stay, however many they are. One for each mount;
/// belongs to its shard.
class InodeLimit {
 public:
  /// Between two looks at the inodes while there are too many.
  static constexpr Duration kPause = std::chrono::milliseconds(20);
  /// The same when a look at all of them has led to nothing: they are in use.
  static constexpr Duration kLongPause = std::chrono::seconds(1);
  /// Memory is given back to the system when so many have gone, and a quarter of all; again each
  /// second while more go, and once after the last.
  static constexpr std::size_t kTrim = 8192;
  static constexpr Duration kTrimDelay = std::chrono::seconds(1);

  /// `inodes` and `kernel` outlive this.
  InodeLimit(InodeTable& inodes, KernelNotifier& kernel, Reactor& reactor, std::size_t most);
  InodeLimit(const InodeLimit&) = delete;
  InodeLimit& operator=(const InodeLimit&) = delete;
  ~InodeLimit();

  /// What makes no inode that it can do without holds back.
  bool reached() const { return inodes_.size() >= most_; }
  void visit_counters(CounterVisitor& visitor) const;

 private:
  std::size_t enough() const { return most_ - most_ / 8; }
  void on_size();
  void look();
  /// Those of the next part that the kernel is to forget.
  std::vector<KernelNotifier::Known> take_unused();
  void wait_to_trim();
  void give_memory_back();

  InodeTable& inodes_;
  KernelNotifier& kernel_;
  Reactor& reactor_;
  const std::size_t most_;
  Timer next_look_;
  Timer trim_;
  std::size_t peak_ = 0;  ///< most inodes since memory was given back
  std::size_t size_before_trim_ = 0;
  std::size_t place_ = 0;          ///< where the next look begins
  std::size_t size_at_begin_ = 0;  ///< of the present look at all of them
  std::shared_ptr<std::atomic<bool>> asking_ = std::make_shared<std::atomic<bool>>(false);
  bool in_use_ = false;  ///< the last look at all of them has led to nothing
  Counter asked_;
  Counter trims_;
};

}  // namespace nfsrdma::fuse
