// The byte ranges one lock-owner holds on one file, as fcntl(2) defines them: a new lock replaces
// the ranges it overlaps, and adjacent ranges of one kind are merged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/requests/lock_owner.h"

namespace nfsrdma::client {

struct LockedRange {
  ByteRange range;
  bool exclusive = false;
  friend bool operator==(const LockedRange&, const LockedRange&) = default;
};

class LockRanges {
 public:
  void set(ByteRange range, bool exclusive);
  void clear(ByteRange range);
  bool overlaps(ByteRange range) const;
  /// What is held of the range.
  LockRanges within(ByteRange range) const;
  /// Something in the range that another owner's lock of this kind cannot stand beside; null: none.
  /// Valid until the next change.
  const LockedRange* conflicting(ByteRange range, bool exclusive) const;
  bool empty() const { return ranges_.empty(); }
  /// In ascending order, without overlap.
  std::span<const LockedRange> all() const& { return ranges_; }
  std::span<const LockedRange> all() const&& = delete;  // of one that is gone

 private:
  void join_neighbours();

  std::vector<LockedRange> ranges_;
};

}  // namespace nfsrdma::client
