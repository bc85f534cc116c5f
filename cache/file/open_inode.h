// State of a file that is open here: its opens, its dirty and its uncommitted data.
#pragma once

#include <algorithm>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "cache/data/gathered_write.h"
#include "cache/data/uncommitted_data.h"
#include "cache/data/write_errors.h"
#include "cache/data/write_order.h"
#include "cache/file/inode.h"
#include "cache/file/leaving_owners.h"
#include "cache/file/locking_owners.h"
#include "client/state/lock_state.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/sync/async_mutex.h"
#include "transport/base/sync/gate.h"
#include "transport/base/sync/in_flight_set.h"

namespace nfsrdma::cache {

class File;

/// The name an open file was given when its last name was removed or replaced (`.nfs...`).
struct SillyName {
  InodeRef directory;
  std::string name;
  client::Credential caller;    ///< of the user that removed the file, and so may remove this name
  bool beside_another = false;  ///< given by a link: the name before it was still there
  /// The file may get the name back that it had before: the rename(2) that replaces it has not
  /// ended. Until then the silly name is its only one, and stays even if no program has it open.
  bool undecided = false;
};

/// Small writes that were answered and not sent (cache/write/write_behind.h). As a list node it
/// stands among those of all files.
struct Gathering : ListNode {
  GatheredWrite bytes;
  boost::intrusive_ptr<File> by;    ///< through which they are sent; empty when there are none
  client::FileLocks::LockRef lock;  ///< that it is written under; empty: none
  TimePoint since{};                ///< when the first of them was written
  WriteOrder::Place place = WriteOrder::Place::anywhere;  ///< at_end: some of them were appended
  enum class Writes : std::uint8_t { none, one, several };
  Writes writes = Writes::none;  ///< since flush_durably(), whichever way they went
};

/// One for each file that is open here; shared by its Files and by operations in flight. As a list
/// node it stands among the files that have uncommitted data.
class OpenInode : public ListNode {
 public:
  OpenInode(Reactor& reactor, UncommittedMemory& memory)
      : uncommitted(memory),
        gate(reactor),
        order(reactor),
        committing(reactor),
        leaving(reactor),
        memory_(memory) {}

  /// Some writes were answered and have not reached the server.
  bool dirty() const { return !gathering.bytes.empty() || order.gathered() > 0; }
  /// The end of the byte of those that is farthest from the file's start; 0 without any.
  std::uint64_t dirty_end() {
    const std::uint64_t end = gathering.bytes.empty() ? 0 : gathering.bytes.end();
    return std::max(end, order.gathered_end());
  }

  /// The server may have lost some of the uncommitted data: it has forgotten all since the first of
  /// them were kept.
  bool may_be_lost() const {
    return !uncommitted.empty() && kept_under != memory_.times_forgotten();
  }

  /// A program has it open; Files of which only the close is left do not count.
  bool in_use();
  /// One of its writable opens; null when there is none.
  boost::intrusive_ptr<File> any_writer();

  /// The bytes have changed since they were read ahead: drops them, also those whose READ is in
  /// flight.
  void drop_read_ahead(std::uint64_t begin, std::uint64_t end);
  void drop_read_ahead() { drop_read_ahead(0, std::numeric_limits<std::uint64_t>::max()); }

  IntrusiveList<File> files;
  UncommittedData uncommitted;
  /// UncommittedMemory::times_forgotten() when the first of those data were kept.
  std::uint64_t kept_under = 0;
  WriteErrors errors;
  /// Writes pass it shared; sending lost data again and changing the size pass it alone, so that
  /// old data never overtakes new.
  Gate gate;
  WriteOrder order;
  Gathering gathering;
  /// A gathered write failed: writes are sent at once until one succeeds.
  bool write_through = false;
  AsyncMutex committing;  ///< one COMMIT at a time
  LeavingOwners leaving;
  LockingOwners lockers;  ///< all that stand in File::lockers, of any of the files
  LockingOwners locking;  ///< all that may have locks
  std::optional<SillyName> silly;
  std::uint32_t closes = 0;  ///< CLOSEs in flight
  /// The closes are in flight that the silly name goes with.
  std::optional<InFlightSet::One> removal;
  /// The server keeps a removed file as long as it is open (OPEN4_RESULT_PRESERVE_UNLINKED).
  bool preserve_unlinked = false;

 private:
  const UncommittedMemory& memory_;
};

}  // namespace nfsrdma::cache
