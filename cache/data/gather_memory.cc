#include "cache/data/gather_memory.h"

namespace nfsrdma::cache {

GatherSlot::GatherSlot(GatherMemory& memory, Buffer buffer)
    : memory_(&memory), buffer_(std::move(buffer)) {
  ++memory_->used_;
}

GatherSlot& GatherSlot::operator=(GatherSlot&& other) noexcept {
  if (this == &other) return *this;
  reset();
  memory_ = std::exchange(other.memory_, nullptr);
  buffer_ = std::move(other.buffer_);
  return *this;
}

void GatherSlot::reset() {
  buffer_.reset();
  if (memory_) --std::exchange(memory_, nullptr)->used_;
}

GatherSlot GatherMemory::acquire(std::size_t kept) {
  Buffer buffer;
  if (left(kept) > 0) buffer = pool_.acquire();
  if (buffer) return {*this, std::move(buffer)};
  refused_.add();
  return {};
}

GatherSlot GatherMemory::adopt(Buffer& filled, std::size_t kept) {
  if (left(kept) > 0) return {*this, std::move(filled)};
  refused_.add();
  return {};
}

void GatherMemory::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("cache_gather_slots", used_);
  visitor.visit("cache_gather_slots_refused", refused_.value());
}

}  // namespace nfsrdma::cache
