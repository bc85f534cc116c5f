#include "fuse/kernel/drop_thread.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "transport/base/log.h"
#include "transport/base/thread.h"

namespace nfsrdma::fuse {
namespace {

constexpr Duration kEndPatience = std::chrono::seconds(1);
constexpr Duration kEndInterval = std::chrono::milliseconds(10);

}  // namespace

struct DropThread::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Order> waiting;
  bool ending = false;
  bool ended = true;  ///< no thread runs

  bool has_ended() {
    std::lock_guard lock(mutex);
    return ended;
  }
};

DropThread::DropThread() : shared_(std::make_shared<Shared>()) {}

DropThread::~DropThread() {
  if (!thread_.joinable()) return;
  if (stopped_) {
    thread_.detach();
    return;
  }
  end();
  thread_.join();  // never stopped: nothing holds it but its queue
}

void DropThread::order(std::shared_ptr<KernelOrders> kernel, Order order) {
  {
    std::lock_guard lock(shared_->mutex);
    shared_->waiting.push_back(std::move(order));
  }
  shared_->changed.notify_one();
  if (thread_.joinable()) return;
  // Without a thread the order waits for the next one. To follow it here could wait for this very
  // program, which has pages to give that are locked.
  shared_->ended = false;
  thread_ = start_without_signals(follow_orders, shared_, std::move(kernel));
}

void DropThread::follow_orders(const std::shared_ptr<Shared>& shared,
                               const std::shared_ptr<KernelOrders>& kernel) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->ending || !shared->waiting.empty(); });
    if (shared->ending) break;
    const Order order = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    lock.unlock();
    order.follow(*kernel);
    lock.lock();
    // Operations have ended before this is stopped: there is no caller to tell.
    if (order.done && !shared->ending) order.done();
  }
  shared->ended = true;
}

void DropThread::end() {
  {
    std::lock_guard lock(shared_->mutex);
    shared_->ending = true;
  }
  shared_->changed.notify_one();
}

Task<void> DropThread::stop(Reactor& reactor) {
  stopped_ = true;
  if (!thread_.joinable()) co_return;
  end();
  for (Duration waited{}; waited < kEndPatience; waited += kEndInterval) {
    if (reactor.seen("the dropping thread has ended", shared_->has_ended())) {
      thread_.join();
      co_return;
    }
    co_await Sleep(reactor, kEndInterval);
  }
  log::warning("the kernel does not return from dropping what it has cached");
}

}  // namespace nfsrdma::fuse
