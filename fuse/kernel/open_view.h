// The kernel's rights to the pages of a file while it is open here.
#pragma once

#include "cache/attr/own_changes.h"
#include "cache/file/inode.h"
#include "fuse/kernel/reads_after_drop.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/sync/async_mutex.h"
#include "transport/base/sync/in_flight_set.h"

namespace nfsrdma::fuse {

/// A file of which the kernel has read pages (revalidation_timer.h). As a list node it stands among
/// all of them.
struct Watched : ListNode {
  cache::InodeRef inode;
};

/// One for each file that is open here; shared by its Files. Belongs to one shard.
struct OpenView {
  explicit OpenView(Reactor& reactor) : reads(reactor), truncations(reactor), showing(reactor) {}

  cache::OwnChanges own_changes;
  ReadsAfterDrop after_drop;
  InFlightSet reads;  ///< READs for the kernel's pages, locked until they are answered
  /// SETATTRs of the size: the kernel sends no WRITE of mapped pages until they are answered.
  InFlightSet truncations;
  AsyncMutex showing;  ///< the kernel is shown what others have changed
  Watched watched;
};

}  // namespace nfsrdma::fuse
