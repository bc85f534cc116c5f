// What a file has while it is open here: who has it open, and what was written but not committed.
#pragma once

#include <algorithm>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "cache/attr/own_changes.h"
#include "cache/data/gathered_write.h"
#include "cache/data/uncommitted_data.h"
#include "cache/data/write_errors.h"
#include "cache/data/write_gate.h"
#include "cache/data/write_order.h"
#include "client/state/lock_state.h"
#include "fuse/inode/inode.h"
#include "fuse/inode/reads_after_drop.h"
#include "fuse/inode/under_way.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/sync/async_mutex.h"

namespace nfsrdma::fs {

class File;

/// The name an open file was given when its last name was removed or replaced (`.nfs...`).
struct SillyName {
  InodeRef directory;
  std::string name;
  client::Caller caller;        ///< who removed the file, and so may remove this name
  bool beside_another = false;  ///< given by a link: the name before it was still there
};

/// Small writes that were answered and not sent (fuse/ops/gatherer.h). As a list node it stands
/// among those of all files.
struct Gathering : ListNode {
  cache::GatheredWrite octets;
  boost::intrusive_ptr<File> by;    ///< through which they are sent; empty when there are none
  client::FileLocks::LockRef lock;  ///< in whose name; empty: nobody's
  TimePoint since{};                ///< when the first of them was written
  bool appended = false;            ///< some of them with O_APPEND
};

/// A file of which the kernel has read pages (fuse/ops/page_watch.h). As a list node it stands
/// among all of them.
struct Watched : ListNode {
  InodeRef inode;
};

/// One for each file that is open here; shared by its Files and by operations under way. As a list
/// node it stands among the files that have uncommitted data.
class OpenInode : public ListNode {
 public:
  OpenInode(Reactor& reactor, cache::KeptMemory& memory)
      : kept(memory),
        gate(reactor),
        order(reactor),
        reads(reactor),
        committing(reactor),
        showing(reactor) {}

  /// Some of what was written here and answered is not at the server.
  bool dirty() const { return !gathering.octets.empty() || order.gathered() > 0; }
  /// The end of the octet of those that is farthest from the file's start; 0 without any.
  std::uint64_t dirty_end() {
    const std::uint64_t end = gathering.octets.empty() ? 0 : gathering.octets.end();
    return std::max(end, order.gathered_end());
  }

  IntrusiveList<File> files;
  cache::UncommittedData kept;
  cache::WriteErrors errors;
  cache::OwnChanges own_changes;
  cache::WriteGate gate;
  cache::WriteOrder order;
  ReadsAfterDrop after_drop;
  UnderWay reads;  ///< READs for the kernel's pages, which are locked until they are answered
  Gathering gathering;
  Watched watched;
  /// A gathered write failed: writes are sent at once until one succeeds.
  bool write_through = false;
  AsyncMutex committing;  ///< one COMMIT at a time
  AsyncMutex showing;     ///< the kernel is shown what others have changed
  std::optional<SillyName> silly;
  /// The closes are under way that the silly name goes with.
  std::optional<UnderWay::One> removal;
  /// The server keeps a removed file as long as it is open (OPEN4_RESULT_PRESERVE_UNLINKED).
  bool preserve_unlinked = false;
};

}  // namespace nfsrdma::fs
