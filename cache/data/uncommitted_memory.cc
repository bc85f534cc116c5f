#include "cache/data/uncommitted_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace nfsrdma::cache {
namespace {

/// Whole pages that no core dump holds: copies are file data. A pool asks for many pages at once.
class UndumpedPages final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t /*alignment: a page at most*/) override {
    void* const pages =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    ::madvise(pages, bytes, MADV_DONTDUMP);
    return pages;
  }
  void do_deallocate(void* pages, std::size_t bytes, std::size_t /*alignment*/) override {
    ::munmap(pages, bytes);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

UndumpedPages& undumped_pages() {
  static UndumpedPages pages;
  return pages;
}

}  // namespace

UncommittedBytes::UncommittedBytes(UncommittedMemory& memory, Buffer slot)
    : memory_(memory), slot_(std::move(slot)) {
  ++memory_.slots_uncommitted_;
}

UncommittedBytes::UncommittedBytes(UncommittedMemory& memory, std::span<const std::byte> data)
    : memory_(memory) {
  auto* place = static_cast<std::byte*>(memory_.pool_.allocate(data.size()));
  copy_ = {place, data.size()};
  std::memcpy(place, data.data(), data.size());
  memory_.bytes_copied_ += copy_.size();
  ++memory_.copies_;
}

UncommittedBytes::~UncommittedBytes() {
  if (slot_) {
    slot_.reset();
    --memory_.slots_uncommitted_;
  } else {
    memory_.pool_.deallocate(copy_.data(), copy_.size());
    memory_.bytes_copied_ -= copy_.size();
    --memory_.copies_;
  }
  memory_.released();
}

UncommittedMemory::UncommittedMemory(Reactor& reactor, Limits limits)
    : limits_{std::max<std::size_t>(limits.slots, 1),
              std::max<std::size_t>(limits.copied_bytes, 1)},
      pool_(std::pmr::pool_options{0, kCopyBelow}, &undumped_pages()),
      waiting_(reactor),
      // Admits one writer a turn: the next one only when this one has taken its memory.
      let_one_in_(reactor, [this] {
        if (!full()) waiting_.wake_one();
        released();
      }) {}

Uncommitted UncommittedMemory::keep(Buffer& slot, std::span<const std::byte> data) {
  const std::pmr::polymorphic_allocator<UncommittedBytes> allocator(&pool_);
  Uncommitted kept;
  if (data.size() > kCopyBelow) {
    writes_kept_in_slot_.add();
    kept.owner = std::allocate_shared<UncommittedBytes>(allocator, *this, std::move(slot));
    kept.data = data;
    return kept;
  }
  writes_copied_.add();
  bytes_copied_total_.add(data.size());
  kept.owner = std::allocate_shared<UncommittedBytes>(allocator, *this, data);
  kept.data = kept.owner->copy();
  return kept;
}

bool UncommittedMemory::full() const {
  return slots_uncommitted_ >= limits_.slots || taken_by_copies() >= limits_.copied_bytes;
}

bool UncommittedMemory::filling() const {
  return 2 * slots_uncommitted_ >= limits_.slots || 2 * taken_by_copies() >= limits_.copied_bytes;
}

void UncommittedMemory::Room::await_suspend(std::coroutine_handle<> waiter) {
  memory_.writers_delayed_.add();
  Wait::await_suspend(waiter);
}

void UncommittedMemory::released() {
  if (!waiting_.empty() && !full()) let_one_in_.schedule();
}

void UncommittedMemory::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("cache_slots_uncommitted", slots_uncommitted_);
  visitor.visit("cache_bytes_kept_in_copies", bytes_copied_);
  visitor.visit("cache_writes_kept_in_slot", writes_kept_in_slot_.value());
  visitor.visit("cache_writes_copied", writes_copied_.value());
  visitor.visit("cache_bytes_copied", bytes_copied_total_.value());
  visitor.visit("cache_writers_delayed", writers_delayed_.value());
}

}  // namespace nfsrdma::cache
