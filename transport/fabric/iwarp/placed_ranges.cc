#include "transport/fabric/iwarp/placed_ranges.h"

#include <algorithm>
#include <cstring>

namespace nfsrdma::fabric::iwarp {

void PlacedRanges::add(std::span<std::byte> memory, std::size_t offset, std::size_t length) {
  const std::size_t end = offset + length;
  if (offset <= contiguous_) {
    contiguous_ = std::max(contiguous_, end);
    if (count_ > 0) reach_islands();
    return;
  }
  add_island({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(end)});
  if (count_ > kMaxIslands) clear_gaps(memory);
}

/// Merges the range with the islands that it overlaps or touches.
void PlacedRanges::add_island(Island added) {
  const auto end = islands_.begin() + count_;
  const auto first = std::find_if(islands_.begin(), end,
                                  [&](const Island& one) { return one.end >= added.begin; });
  auto last = first;
  for (; last != end && last->begin <= added.end; ++last) {
    added.begin = std::min(added.begin, last->begin);
    added.end = std::max(added.end, last->end);
  }
  if (first == last) {
    std::copy_backward(first, end, end + 1);
    ++count_;
  } else {
    std::copy(last, end, first + 1);
    count_ -= static_cast<std::size_t>(last - first) - 1;
  }
  *first = added;
}

/// Adds islands to the contiguous part when it has grown as far as they begin.
void PlacedRanges::reach_islands() {
  std::size_t reached = 0;
  for (; reached < count_ && islands_[reached].begin <= contiguous_; ++reached) {
    contiguous_ = std::max<std::size_t>(contiguous_, islands_[reached].end);
  }
  std::copy(islands_.begin() + reached, islands_.begin() + count_, islands_.begin());
  count_ -= reached;
}

/// For more islands than are remembered; no known server writes like this. Fills the gaps with
/// zeros: otherwise old data of another file in this memory could be taken for the result.
void PlacedRanges::clear_gaps(std::span<std::byte> memory) {
  for (std::size_t i = 0; i < count_; ++i) {
    std::memset(&memory[contiguous_], 0, islands_[i].begin - contiguous_);
    contiguous_ = islands_[i].end;
  }
  const auto rest = memory.subspan(contiguous_);
  if (!rest.empty()) std::memset(rest.data(), 0, rest.size());
  contiguous_ = memory.size();
  count_ = 0;
}

}  // namespace nfsrdma::fabric::iwarp
