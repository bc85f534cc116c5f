#include "cache/data/kept_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nfsrdma::cache {

KeptOctets::KeptOctets(KeptMemory& memory, Buffer slot) : memory_(memory), slot_(std::move(slot)) {
  ++memory_.slots_kept_;
}

KeptOctets::KeptOctets(KeptMemory& memory, std::span<const std::byte> data) : memory_(memory) {
  auto* place = static_cast<std::byte*>(memory_.pool_.allocate(data.size()));
  copy_ = {place, data.size()};
  std::memcpy(place, data.data(), data.size());
  memory_.octets_copied_ += copy_.size();
}

KeptOctets::~KeptOctets() {
  if (slot_) {
    slot_.reset();
    --memory_.slots_kept_;
  } else {
    memory_.pool_.deallocate(copy_.data(), copy_.size());
    memory_.octets_copied_ -= copy_.size();
  }
  memory_.released();
}

KeptMemory::KeptMemory(Reactor& reactor, Limits limits)
    : limits_{std::max<std::size_t>(limits.slots, 1),
              std::max<std::size_t>(limits.copied_octets, 1)},
      pool_(std::pmr::pool_options{0, kCopyBelow}),
      wake_(reactor, [this] { let_in(); }) {}

Kept KeptMemory::keep(Buffer& slot, std::span<const std::byte> data) {
  const std::pmr::polymorphic_allocator<KeptOctets> allocator(&pool_);
  Kept kept;
  if (data.size() > kCopyBelow) {
    writes_kept_in_slot_.add();
    kept.owner = std::allocate_shared<KeptOctets>(allocator, *this, std::move(slot));
    kept.data = data;
    return kept;
  }
  writes_copied_.add();
  octets_copied_total_.add(data.size());
  kept.owner = std::allocate_shared<KeptOctets>(allocator, *this, data);
  kept.data = kept.owner->copy();
  return kept;
}

bool KeptMemory::full() const {
  return slots_kept_ >= limits_.slots || octets_copied_ >= limits_.copied_octets;
}

bool KeptMemory::filling() const {
  return 2 * slots_kept_ >= limits_.slots || 2 * octets_copied_ >= limits_.copied_octets;
}

void KeptMemory::Room::await_suspend(std::coroutine_handle<> waiter) {
  waiter_ = waiter;
  memory_.writers_delayed_.add();
  memory_.waiting_.push_back(*this);
}

void KeptMemory::released() {
  if (!waiting_.empty() && !full()) wake_.schedule();
}

void KeptMemory::let_in() {
  while (!waiting_.empty() && !full()) waiting_.pop_front()->waiter_.resume();
}

void KeptMemory::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("cache_slots_kept", slots_kept_);
  visitor.visit("cache_octets_kept_in_copies", octets_copied_);
  visitor.visit("cache_writes_kept_in_slot", writes_kept_in_slot_.value());
  visitor.visit("cache_writes_copied", writes_copied_.value());
  visitor.visit("cache_octets_copied", octets_copied_total_.value());
  visitor.visit("cache_writers_delayed", writers_delayed_.value());
}

}  // namespace nfsrdma::cache
