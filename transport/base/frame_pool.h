// Per-thread free lists for coroutine frames and other short-lived objects of a few size classes.
#pragma once

#include <cstddef>

namespace nfsrdma {

/// Memory for coroutine frames. Frames are released on the thread that allocated them (a shard runs
/// a request to completion); one released elsewhere simply joins that thread's list.
class FramePool {
 public:
  static void* allocate(std::size_t size);
  static void release(void* frame, std::size_t size) noexcept;
};

}  // namespace nfsrdma
