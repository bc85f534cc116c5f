// The byte ranges one lock-owner holds on one file, as fcntl(2) defines them: a new lock replaces
// what it overlaps, neighbours of one kind become one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nfsrdma::client {

/// Bytes `first` to `last`, both included, so that the last byte of all can be named.
struct ByteRange {
  static constexpr std::uint64_t kEnd = ~std::uint64_t{0};

  std::uint64_t first = 0;
  std::uint64_t last = kEnd;

  static constexpr ByteRange whole_file() { return {}; }
  /// As a length on the wire: all ones means "to any end" (RFC 8881 section 18.10.3).
  std::uint64_t wire_length() const { return last == kEnd ? kEnd : last - first + 1; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

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
  /// Something in the range that another owner's lock of this kind cannot stand beside; null: none.
  /// Valid until the next change.
  const LockedRange* conflicting(ByteRange range, bool exclusive) const;
  bool empty() const { return ranges_.empty(); }
  /// In ascending order, without overlap.
  std::span<const LockedRange> all() const { return ranges_; }

 private:
  void join_neighbours();

  std::vector<LockedRange> ranges_;
};

}  // namespace nfsrdma::client
