#include "tests/responder/nfs/state/lock_ranges.h"

#include <algorithm>

namespace nfsrdma::responder {

namespace {

bool touches(const ByteRange& a, const ByteRange& b) {
  return a.overlaps(b) || (a.last != UINT64_MAX && a.last + 1 == b.first) ||
         (b.last != UINT64_MAX && b.last + 1 == a.first);
}

}  // namespace

const LockedRange* LockRanges::conflict(const ByteRange& range, bool exclusive,
                                        const LockState* holder) const {
  for (const LockedRange& held : ranges_) {
    if (held.holder != holder && (exclusive || held.exclusive) && held.range.overlaps(range)) {
      return &held;
    }
  }
  return nullptr;
}

void LockRanges::lock(const ByteRange& range, bool exclusive, LockState* holder) {
  unlock(range, holder);
  ByteRange merged = range;
  merge_neighbours(merged, exclusive, holder);
  const auto place = std::ranges::find_if(
      ranges_, [&](const LockedRange& held) { return held.range.first > merged.first; });
  ranges_.insert(place, {merged, exclusive, holder});
}

// Takes the holder's adjoining ranges of the same kind into `range`.
void LockRanges::merge_neighbours(ByteRange& range, bool exclusive, const LockState* holder) {
  std::erase_if(ranges_, [&](const LockedRange& held) {
    if (held.holder != holder || held.exclusive != exclusive || !touches(held.range, range)) {
      return false;
    }
    range.first = std::min(range.first, held.range.first);
    range.last = std::max(range.last, held.range.last);
    return true;
  });
}

void LockRanges::unlock(const ByteRange& range, const LockState* holder) {
  std::vector<LockedRange> kept;
  kept.reserve(ranges_.size() + 1);
  for (const LockedRange& held : ranges_) {
    if (held.holder != holder || !held.range.overlaps(range)) {
      kept.push_back(held);
      continue;
    }
    if (held.range.first < range.first) {
      kept.push_back({{held.range.first, range.first - 1}, held.exclusive, held.holder});
    }
    if (held.range.last > range.last) {
      kept.push_back({{range.last + 1, held.range.last}, held.exclusive, held.holder});
    }
  }
  std::ranges::stable_sort(kept, {}, [](const LockedRange& held) { return held.range.first; });
  ranges_ = std::move(kept);
}

void LockRanges::unlock_all(const LockState* holder) {
  std::erase_if(ranges_, [&](const LockedRange& held) { return held.holder == holder; });
}

bool LockRanges::holds_any(const LockState* holder) const {
  return std::ranges::any_of(ranges_,
                             [&](const LockedRange& held) { return held.holder == holder; });
}

}  // namespace nfsrdma::responder
