// Memory for tests that a device can use: everything that a vector of these tests holds comes out
// of one pool, once one was asked for. Until then it is ordinary memory, whose ends a sanitizer
// watches.
#pragma once

#include <cstddef>

#include "transport/base/buffer.h"

namespace nfsrdma::fabric::testing {

/// Takes all further allocations out of this pool. Call it before the first test.
BufferPool& use_registered_memory();
/// The pool, or null when memory is ordinary.
BufferPool* registered_memory();

void* allocate_bytes(std::size_t size);
void release_bytes(void* memory, std::size_t size);

template <class T>
struct TestAllocator {
  using value_type = T;

  TestAllocator() = default;
  template <class U>
  TestAllocator(const TestAllocator<U>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_bytes(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) { release_bytes(memory, count * sizeof(T)); }
  bool operator==(const TestAllocator&) const { return true; }
};

}  // namespace nfsrdma::fabric::testing
