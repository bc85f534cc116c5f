#include "client/state/lock_ranges.h"

#include <algorithm>

namespace nfsrdma::client {
namespace {

bool meet(const ByteRange& a, const ByteRange& b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

void LockRanges::set(ByteRange range, bool exclusive) {
  clear(range);
  const auto place = std::find_if(ranges_.begin(), ranges_.end(), [&](const LockedRange& held) {
    return held.range.first > range.last;
  });
  ranges_.insert(place, LockedRange{range, exclusive});
  join_neighbours();
}

void LockRanges::clear(ByteRange range) {
  std::vector<LockedRange> left;
  left.reserve(ranges_.size() + 1);
  for (const LockedRange& held : ranges_) {
    if (!meet(held.range, range)) {
      left.push_back(held);
      continue;
    }
    if (held.range.first < range.first) {
      left.push_back({{held.range.first, range.first - 1}, held.exclusive});
    }
    if (held.range.last > range.last) {
      left.push_back({{range.last + 1, held.range.last}, held.exclusive});
    }
  }
  ranges_ = std::move(left);
}

bool LockRanges::overlaps(ByteRange range) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const LockedRange& held) { return meet(held.range, range); });
}

LockRanges LockRanges::within(ByteRange range) const {
  LockRanges held = *this;
  if (range.first > 0) held.clear({0, range.first - 1});
  if (range.last < ByteRange::whole_file().last) {
    held.clear({range.last + 1, ByteRange::whole_file().last});
  }
  return held;
}

const LockedRange* LockRanges::conflicting(ByteRange range, bool exclusive) const {
  const auto found = std::find_if(ranges_.begin(), ranges_.end(), [&](const LockedRange& held) {
    return meet(held.range, range) && (held.exclusive || exclusive);
  });
  return found == ranges_.end() ? nullptr : &*found;
}

void LockRanges::join_neighbours() {
  for (std::size_t i = 1; i < ranges_.size();) {
    LockedRange& before = ranges_[i - 1];
    const LockedRange& after = ranges_[i];
    if (before.exclusive == after.exclusive && before.range.last + 1 == after.range.first) {
      before.range.last = after.range.last;
      ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace nfsrdma::client
