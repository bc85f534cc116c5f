// The locks of this client: for each open file, one LockState for each lock-owner.
//
// The server keeps one lock stateid for a file, open-owner and lock-owner (RFC 8881 section 9.4).
// Requests of one lock-owner on one file go one after the other, so that the locks noted here are
// those of the server. Under a write delegation of the file the server has none of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "client/compound/state_holder.h"
#include "client/proto/object.h"
#include "client/proto/types.h"
#include "client/requests/lock_owner.h"
#include "client/state/lock_ranges.h"
#include "transport/base/sync/async_mutex.h"

namespace nfsrdma::client {

class OpenFile;

/// The locks of one owner on one open file. LOCK and LOCKU name it while the server has given a
/// stateid; READ, WRITE and SETATTR name it by LockedIo (locked_io.h).
///
/// A lock that the server has revoked is never locked again silently: another client may have
/// changed the data it protects. Its owner's I/O fails until the owner unlocks or closes the file,
/// or locks it again after an error has told of the loss.
struct LockState final : StateHolder {
  LockState(Reactor& reactor, OpenFile& of, const LockOwner& by)
      : file(of), owner(by), changing(reactor) {}

  /// With seqid zero, "the current one".
  nfs4::stateid4 stateid() const override;
  /// No stateid is left, or the open is lost. If the open is not, LOCK gets a new stateid on it.
  bool lost() const override;
  bool recovering() const override;
  /// The server has taken the locks away: noted for recovery.
  void on_refused(nfs4::nfsstat4 status) override;
  /// The server has given this stateid.
  void granted(const nfs4::stateid4& stateid) {
    given = stateid;
    established = true;
  }
  /// The locks and their stateid are lost. Returns whether there was any lock.
  bool take_away();
  bool any_lost() const { return !lost_ranges.empty(); }

  OpenFile& file;
  const LockOwner owner;
  std::int32_t pid = 0;      ///< of the process that locked last; for F_GETLK
  Credential caller;         ///< that asked for it last; whose requests about it are
  bool established = false;  ///< the server has given a stateid
  /// The server is asked about this owner's locks; else only this client knows of them.
  bool at_server = false;
  nfs4::stateid4 given;                    ///< the stateid, when established
  LockRanges ranges;                       ///< locked by the owner
  LockRanges lost_ranges;                  ///< revoked by the server and not unlocked since
  mutable bool loss_reported = false;      ///< an operation of the owner has failed for that
  nfs4::nfsstat4 refused = nfs4::NFS4_OK;  ///< why the server does not accept the stateid given
  AsyncMutex changing;                     ///< LOCK and LOCKU, one at a time
};

/// All locks on one open file. Belongs to the OpenFile and goes with it.
class FileLocks {
 public:
  using LockRef = std::shared_ptr<LockState>;

  FileLocks(OpenFile& file, Reactor& reactor) : file_(file), reactor_(reactor) {}

  LockRef obtain(const LockOwner& owner);
  /// Null when the owner has locked nothing here.
  LockRef find(const LockOwner& owner) const;
  /// Forgets an owner without locks, stateid and requests in flight.
  void forget_if_unused(const LockRef& state);
  /// The server has forgotten all locks of the file, or the file was closed.
  void clear() { states_.clear(); }
  /// The same for owners that the server does not know: the file is not open any more.
  void clear_local();
  /// The server has forgotten the owners.
  void forget_stateids();
  /// Whether the server does not know all that is locked.
  bool any_local() const;
  /// Whether the server is asked about locks of any owner.
  bool any_at_server() const;
  std::span<const LockRef> all() const { return states_; }
  bool empty() const { return states_.empty(); }

 private:
  OpenFile& file_;
  Reactor& reactor_;
  std::vector<LockRef> states_;
};

}  // namespace nfsrdma::client
