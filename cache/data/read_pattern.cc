#include "cache/data/read_pattern.h"

namespace nfsrdma::cache {
namespace {

/// The kernel's reads grow at the begin of a run. Pieces are cut to the size of these reads, so
/// read-ahead begins when they have stopped growing, or after this many.
constexpr std::uint32_t kMostGrowing = 4;
/// Equal distances before a stride is believed.
constexpr std::uint32_t kLeastRepeats = 2;
/// Reads that overtake others come late: so many lengths behind the end.
constexpr std::uint64_t kLate = 2;

}  // namespace

bool ReadPattern::goes_on(std::uint64_t offset, bool expected) const {
  return requests_ > 0 && (offset == end_ || (expected && offset > end_));
}

void ReadPattern::begin_run(std::uint64_t offset) {
  const bool forward = requests_ > 0 && offset > begin_;
  const std::uint64_t stride = forward ? offset - begin_ : 0;
  const std::uint64_t length = end_ - begin_;
  if (forward && stride == stride_ && length == length_) {
    ++repeats_;
  } else {
    repeats_ = forward ? 1 : 0;
    stride_ = stride;
    length_ = length;
  }
  begin_ = end_ = offset;
  requests_ = 0;
  sequential_ = false;
}

void ReadPattern::note(std::uint64_t offset, std::size_t size, bool expected) {
  if (next() == Next::strided && offset != end_) expected = false;
  if (!goes_on(offset, expected)) {
    const bool late =
        requests_ > 1 && offset >= begin_ && offset < end_ && end_ - offset <= kLate * request_;
    if (late) return;
    begin_run(offset);
  }
  ++requests_;
  if (requests_ > 1 && (size <= request_ || requests_ >= kMostGrowing)) sequential_ = true;
  end_ = offset + size;
  request_ = size;
}

ReadPattern::Next ReadPattern::next() const {
  if (repeats_ >= kLeastRepeats && end_ - begin_ <= length_) return Next::strided;
  return sequential_ ? Next::sequential : Next::unknown;
}

}  // namespace nfsrdma::cache
