// Which lock-owner waits for whose locks, to tell a deadlock (NFS4ERR_DEADLOCK, RFC 8881 section
// 18.10.3).
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>

#include "client/proto/types.h"
#include "tests/responder/nfs/fs/file.h"
#include "tests/responder/nfs/state/lock_ranges.h"
#include "tests/responder/nfs/state/state_table.h"
#include "transport/base/reactor.h"

namespace nfsrdma::responder {

/// A lock-owner, whatever file it locks.
struct LockOwnerKey {
  nfs4::clientid4 client = 0;
  std::string name;

  friend auto operator<=>(const LockOwnerKey&, const LockOwnerKey&) = default;
};

/// A client that waits for a lock asks again and again (RFC 8881 section 9.6), and does not say
/// when it stops. So a refused blocking LOCK counts as a wait until twice the time that lay between
/// the last two requests is over: pauses between them double at most. Reactor's thread only.
class LockWaits {
 public:
  explicit LockWaits(StateTable& states) : states_(states) {}

  /// Call before a blocking LOCK is denied. True: the holder of the lock waits in turn for a lock
  /// of this owner, a deadlock; refuse to wait then.
  bool closes_a_circle(const LockOwnerKey& owner, const FileRef& file, const ByteRange& range,
                       bool exclusive, TimePoint now);
  /// The owner has got a lock, or given one back.
  void ended(const LockOwnerKey& owner) { waits_.erase(owner); }

  std::size_t size() const { return waits_.size(); }

 private:
  struct Wait {
    FileRef file;
    ByteRange range;
    bool exclusive = false;
    TimePoint asked{};
    TimePoint until{};
  };
  using Owners = std::set<LockOwnerKey>;

  Owners in_the_way_of(const LockOwnerKey& owner, const Wait& wait);
  bool waits_for(const LockOwnerKey& holder, const LockOwnerKey& target, Owners& seen);

  StateTable& states_;
  std::map<LockOwnerKey, Wait> waits_;
};

}  // namespace nfsrdma::responder
