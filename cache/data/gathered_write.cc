#include "cache/data/gathered_write.h"

#include <algorithm>
#include <cstring>

namespace nfsrdma::cache {

bool GatheredWrite::takes(std::uint64_t offset, std::size_t length) const {
  if (empty() || offset < offset_ || offset > end()) return false;
  return length <= room_ - (offset - offset_);
}

std::size_t GatheredWrite::add(std::uint64_t offset, std::span<const std::byte> data) {
  if (!slot_ || offset < offset_ || offset > end()) return 0;
  const std::size_t place = offset - offset_;
  const std::size_t count = std::min(data.size(), room_ - place);
  if (count == 0) return 0;
  std::memcpy(slot_.buffer().data() + place, data.data(), count);
  length_ = std::max(length_, place + count);
  return count;
}

void GatheredWrite::begin(GatherSlot slot, std::uint64_t offset, std::size_t most) {
  const std::size_t longest = std::min(most, slot.buffer().size());
  const std::size_t to_boundary = longest - offset % longest;
  slot_ = std::move(slot);
  offset_ = offset;
  length_ = 0;
  room_ = to_boundary >= kGatherBelow ? to_boundary : longest;
}

GatheredWrite::Taken GatheredWrite::take() {
  Taken taken{std::move(slot_), offset_, {}};
  taken.data = taken.slot.buffer().first(length_);
  length_ = 0;
  room_ = 0;
  return taken;
}

}  // namespace nfsrdma::cache
