#include "transport/base/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace nfsrdma {

Buffer::Buffer(Buffer&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    reset();
    pool_ = std::exchange(other.pool_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void Buffer::reset() {
  if (pool_) pool_->release(data_);
  pool_ = nullptr;
  data_ = nullptr;
  size_ = 0;
}

Result<std::unique_ptr<BufferPool>> BufferPool::create(std::size_t slot_size, std::size_t slots) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  slot_size = (slot_size + page - 1) / page * page;
  void* base = ::mmap(nullptr, slot_size * slots, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return fail(Error::from_errno(errno, "buffer pool",
                                  std::to_string(slot_size * slots) + " bytes wanted"));
  }
  // A core dump is for finding defects: file data is not needed for that, and is nobody's to keep.
  ::madvise(base, slot_size * slots, MADV_DONTDUMP);
  return std::unique_ptr<BufferPool>(
      new BufferPool(static_cast<std::byte*>(base), slot_size, slots));
}

BufferPool::BufferPool(std::byte* base, std::size_t slot_size, std::size_t slots)
    : base_(base), slot_size_(slot_size), slots_(slots) {
  free_.reserve(slots);
  for (std::size_t i = slots; i > 0; --i) free_.push_back(base + (i - 1) * slot_size);
}

BufferPool::~BufferPool() { ::munmap(base_, slot_size_ * slots_); }

Buffer BufferPool::acquire() {
  if (free_.empty() && lender_) lender_->give_back();
  if (free_.empty()) return {};
  std::byte* data = free_.back();
  free_.pop_back();
  return Buffer(this, data, slot_size_);
}

void BufferPool::release(std::byte* data) {
  free_.push_back(data);
  if (auto* waiter = waiters_.pop_front()) waiter->on_buffer_available();
}

}  // namespace nfsrdma
