#include "transport/base/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace nfsrdma {
namespace {

/// Slots of this size and more lie in huge pages, if the system has them: the kernel looks up each
/// page of a slot for each copy, which costs a mount a tenth of its processor time for a direct
/// WRITE of 1 MiB (tests/bench/README.md). Small slots would only take more memory.
constexpr std::size_t kHugeFrom = std::size_t{512} << 10;

}  // namespace

Buffer::Buffer(Buffer&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    reset();
    owner_ = std::exchange(other.owner_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void Buffer::reset() {
  BufferOwner* const owner = owner_;
  const std::span<std::byte> slot = release();
  if (owner) owner->take_back(slot.data());
}

std::span<std::byte> Buffer::release() {
  owner_ = nullptr;
  return {std::exchange(data_, nullptr), std::exchange(size_, 0)};
}

Result<std::unique_ptr<BufferPool>> BufferPool::create(std::size_t slot_size, std::size_t slots,
                                                       Mapping mapping) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  slot_size = (slot_size + page - 1) / page * page;
  // Only pages that could be another process's too can have a second address.
  const int sharing = mapping == Mapping::many ? MAP_SHARED : MAP_PRIVATE;
  void* base = ::mmap(nullptr, slot_size * slots, PROT_READ | PROT_WRITE,
                      sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return fail(Error::from_errno(errno, "buffer pool",
                                  std::to_string(slot_size * slots) + " bytes wanted"));
  }
  // A core dump helps to find defects. It needs no file data, which must not be kept for privacy.
  ::madvise(base, slot_size * slots, MADV_DONTDUMP);
  if (slot_size >= kHugeFrom) ::madvise(base, slot_size * slots, MADV_HUGEPAGE);
  return std::unique_ptr<BufferPool>(
      new BufferPool(static_cast<std::byte*>(base), slot_size, slots, mapping));
}

BufferPool::BufferPool(std::byte* base, std::size_t slot_size, std::size_t slots, Mapping mapping)
    : base_(base), slot_size_(slot_size), slots_(slots), mapping_(mapping) {
  free_.reserve(slots);
  for (std::size_t i = slots; i > 0; --i) free_.push_back(base + (i - 1) * slot_size);
}

BufferPool::~BufferPool() { ::munmap(base_, slot_size_ * slots_); }

Buffer BufferPool::acquire() {
  if (free_.empty() && lender_) lender_->give_back();
  if (free_.empty()) return {};
  std::byte* data = free_.back();
  free_.pop_back();
  return Buffer(*this, {data, slot_size_});
}

void BufferPool::take_back(std::byte* data) {
  free_.push_back(data);
  if (auto* waiter = waiters_.pop_front()) waiter->on_buffer_available();
}

/// mremap(2): with an old size of 0 the pages of a shared mapping get one more address.
Result<void> BufferPool::show(const std::byte* slot, std::span<std::byte> place) {
  if (mapping_ != Mapping::many) return fail(Error::local(EOPNOTSUPP, "buffer pool"));
  void* const from = const_cast<std::byte*>(slot);
  if (::mremap(from, 0, place.size(), MREMAP_MAYMOVE | MREMAP_FIXED, place.data()) == MAP_FAILED) {
    return fail(Error::from_errno(errno, "buffer pool", "one more address for a slot"));
  }
  return {};
}

}  // namespace nfsrdma
