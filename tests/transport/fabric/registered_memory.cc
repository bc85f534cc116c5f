#include "tests/transport/fabric/registered_memory.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <memory_resource>

namespace nfsrdma::fabric::testing {
namespace {

constexpr std::size_t kPoolSize = 48 << 20;
constexpr std::size_t kLargestBlock = 2 << 20;

struct Arena {
  explicit Arena(std::unique_ptr<BufferPool> memory)
      : pool(std::move(memory)),
        upstream(pool->memory().data(), pool->memory().size(), std::pmr::null_memory_resource()),
        blocks({.max_blocks_per_chunk = 4, .largest_required_pool_block = kLargestBlock},
               &upstream) {}

  bool owns(const void* at) const {
    const auto memory = pool->memory();
    const auto* byte = static_cast<const std::byte*>(at);
    return byte >= memory.data() && byte < memory.data() + memory.size();
  }

  std::unique_ptr<BufferPool> pool;
  std::pmr::monotonic_buffer_resource upstream;
  std::pmr::synchronized_pool_resource blocks;
};

Arena* arena = nullptr;  // for as long as the process lives

}  // namespace

BufferPool& use_registered_memory() {
  auto pool = BufferPool::create(kPoolSize, 1);
  if (!pool) {
    std::fprintf(stderr, "%s\n", pool.error().message().c_str());
    std::exit(EXIT_FAILURE);
  }
  arena = new Arena(std::move(*pool));
  return *arena->pool;
}

BufferPool* registered_memory() { return arena == nullptr ? nullptr : arena->pool.get(); }

void* allocate_bytes(std::size_t size) {
  return arena == nullptr ? ::operator new(size) : arena->blocks.allocate(size);
}

void release_bytes(void* memory, std::size_t size) {
  if (arena != nullptr && arena->owns(memory)) return arena->blocks.deallocate(memory, size);
  ::operator delete(memory);
}

}  // namespace nfsrdma::fabric::testing
