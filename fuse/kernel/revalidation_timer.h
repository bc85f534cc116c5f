// Files that stay open. The kernel does not ask before it reads a page that it has, so this timer
// checks whether another client has changed the file.
#pragma once

#include <functional>
#include <vector>

#include "cache/file/attribute_cache.h"
#include "fuse/kernel/file.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/task.h"

namespace nfsrdma::fuse {

/// One for each mount; belongs to its shard. An open file that has pages in the kernel is looked at
/// when its attributes have timed out, or a write of this mount has found that another client wrote
/// before it: so its pages are no older than acregmax. A file that has lost its pages is left alone
/// until it is read again.
class RevalidationTimer {
 public:
  /// Looks no more often than every shortest attribute timeout; never if that is zero, when the
  /// kernel does. Calls `changed` when another client has changed a file.
  RevalidationTimer(cache::AttributeCache& attributes, Reactor& reactor,
                    std::function<void(Inode&)> changed);
  RevalidationTimer(const RevalidationTimer&) = delete;
  RevalidationTimer& operator=(const RevalidationTimer&) = delete;

  /// The kernel may have got pages of the file. One without pages is not added.
  void add(const File& file);

  void visit_counters(CounterVisitor& visitor) const;

 private:
  void on_timer();
  static bool pages_outdated(const Inode& inode);
  std::vector<cache::FileRef> due();
  Task<void> look(std::vector<cache::FileRef> files);

  cache::AttributeCache& attributes_;
  const std::function<void(Inode&)> changed_;
  const Duration interval_;
  IntrusiveList<Watched> watched_;
  Timer timer_;
  Counter looks_;
};

}  // namespace nfsrdma::fuse
