// Awaiting a slot of a BufferPool.
#pragma once

#include <coroutine>

#include "transport/base/buffer.h"
#include "transport/base/reactor.h"
#include "transport/base/task.h"

namespace nfsrdma {

/// Suspends until a slot came back; the slot is not held for the waiter.
class SlotReturned final : private BufferWaiter {
 public:
  SlotReturned(Reactor& reactor, BufferPool& pool) : reactor_(reactor), pool_(pool) {}
  bool await_ready() const noexcept { return pool_.available() > 0; }
  void await_suspend(std::coroutine_handle<> coroutine) {
    coroutine_ = coroutine;
    origin_ = present_origin();
    pool_.wait(*this);
  }
  void await_resume() const noexcept {}

 private:
  void on_buffer_available() override { reactor_.post(coroutine_, origin_); }

  Reactor& reactor_;
  BufferPool& pool_;
  std::coroutine_handle<> coroutine_;
  Origin origin_ = kNoOrigin;
};

/// A slot, as soon as there is one. Both must outlive the task.
inline Task<Buffer> acquire_when_free(Reactor& reactor, BufferPool& pool) {
  for (;;) {
    Buffer buffer = pool.acquire();
    if (buffer) co_return std::move(buffer);
    co_await SlotReturned(reactor, pool);
  }
}

}  // namespace nfsrdma
