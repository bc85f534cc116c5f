// The byte-range locks of one file (RFC 8881 section 9): conflicts, splitting, merging.
#pragma once

#include <cstdint>
#include <vector>

namespace nfsrdma::responder {

/// Bytes [first, last], both included, so that the last byte of a file can be named.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  bool overlaps(const ByteRange& other) const { return first <= other.last && other.first <= last; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct LockState;

struct LockedRange {
  ByteRange range;
  bool exclusive = false;
  LockState* holder = nullptr;
};

class LockRanges {
 public:
  /// The first range that keeps `holder` (which may be null: a stranger) from locking.
  const LockedRange* conflict(const ByteRange& range, bool exclusive,
                              const LockState* holder) const;
  /// Locks the range, and converts the holder's locks in it. The caller has looked for conflicts.
  void lock(const ByteRange& range, bool exclusive, LockState* holder);
  /// Unlocks; a range in the middle of another splits it.
  void unlock(const ByteRange& range, const LockState* holder);
  void unlock_all(const LockState* holder);
  bool holds_any(const LockState* holder) const;

  bool empty() const { return ranges_.empty(); }
  const std::vector<LockedRange>& ranges() const { return ranges_; }

 private:
  void merge_neighbours(ByteRange& range, bool exclusive, const LockState* holder);

  std::vector<LockedRange> ranges_;  // in order of `first`
};

}  // namespace nfsrdma::responder
