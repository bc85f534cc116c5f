// Memory for file data that is on its way through the program, outside of any buffer pool.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>

namespace nfsrdma {

/// `size` bytes that no core dump holds: file data must not be kept for privacy. In pages of its
/// own, because the kernel leaves out whole pages only. Its owner's thread.
class UndumpedBytes {
 public:
  /// Throws std::bad_alloc, as any allocation.
  explicit UndumpedBytes(std::size_t size)
      : bytes_(static_cast<std::byte*>(
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        size_(size) {
    if (bytes_ == MAP_FAILED) throw std::bad_alloc();
    ::madvise(bytes_, size_, MADV_DONTDUMP);
  }
  UndumpedBytes(const UndumpedBytes&) = delete;
  UndumpedBytes& operator=(const UndumpedBytes&) = delete;
  ~UndumpedBytes() { ::munmap(bytes_, size_); }

  std::byte* data() const { return bytes_; }
  /// All of it.
  std::span<std::byte> span() const { return {bytes_, size_}; }

 private:
  std::byte* const bytes_;
  const std::size_t size_;
};

}  // namespace nfsrdma
