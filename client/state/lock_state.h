// What this client has locked: for each open file, one LockState for each lock-owner.
//
// The server keeps one lock stateid for a file, open-owner and lock-owner (RFC 8881 section 9.4).
// Requests of one lock-owner on one file go one after the other, so that what is noted here is what
// the server has.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "client/proto/types.h"
#include "client/state/async_mutex.h"
#include "client/state/lock_ranges.h"

namespace nfsrdma::client {

/// fcntl locks belong to a process, flock locks to an open file description; on the server they are
/// byte-range locks both, of owners that differ.
enum class LockKind : std::uint8_t { posix, flock };

/// Who locks, as the file system above names him: unique within the mount while he holds anything.
struct LockOwner {
  LockKind kind = LockKind::posix;
  std::uint64_t id = 0;
  friend bool operator==(const LockOwner&, const LockOwner&) = default;
};

/// lock_owner4::owner for a LockOwner.
class LockOwnerText {
 public:
  explicit LockOwnerText(const LockOwner& owner);
  std::span<const std::byte> bytes() const { return octets_; }

 private:
  std::array<std::byte, 24> octets_{};
};

/// The locks of one owner on one open file.
struct LockState {
  LockOwner owner;
  std::int32_t pid = 0;      ///< of the process that locked last; for F_GETLK
  bool established = false;  ///< the server has given a stateid
  nfs4::stateid4 stateid;
  LockRanges ranges;    ///< what the server has granted
  AsyncMutex changing;  ///< LOCK and LOCKU, one at a time
};

/// All locks on one open file. Belongs to the OpenFile and goes with it.
class FileLocks {
 public:
  using LockRef = std::shared_ptr<LockState>;

  LockRef obtain(const LockOwner& owner);
  /// Null when the owner has locked nothing here.
  LockRef find(const LockOwner& owner) const;
  /// Null when no owner here goes by this text.
  LockRef find(std::span<const std::byte> owner_text) const;
  /// Forgets an owner who has no stateid and whom no other request is about.
  void forget_if_unused(const LockRef& state);
  /// The server has forgotten all locks of the file, or the file was closed.
  void clear() { states_.clear(); }
  /// Whether anybody has locked anything.
  bool any_held() const;
  std::span<const LockRef> all() const { return states_; }

 private:
  std::vector<LockRef> states_;
};

}  // namespace nfsrdma::client
