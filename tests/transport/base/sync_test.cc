// Waiting of coroutines: in the order of arrival, each woken in a turn of its own.
#include <gtest/gtest.h>

#include <vector>

#include "transport/base/sync/async_mutex.h"
#include "transport/base/sync/wait_queue.h"
#include "transport/base/task.h"
#include "transport/base/virtual_reactor.h"

namespace nfsrdma {
namespace {

constexpr int kManyWaiters = 100'000;

Task<void> lock_and_note(AsyncMutex& mutex, std::vector<int>& order, int number) {
  auto guard = co_await mutex.lock();
  order.push_back(number);
}

Task<void> wait_and_note(WaitQueue& queue, std::vector<int>& order, int number) {
  co_await queue.wait();
  order.push_back(number);
}

void expect_in_order(const std::vector<int>& order) {
  ASSERT_EQ(order.size(), static_cast<std::size_t>(kManyWaiters));
  for (int i = 0; i < kManyWaiters; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

// One that resumed its waiters inside the guard's destructor would need a stack frame for each.
TEST(AsyncMutex, AHundredThousandWaitersComeInOrderAndDoNotGrowTheStack) {
  VirtualReactor reactor;
  AsyncMutex mutex(reactor);
  std::vector<int> order;
  auto locking = mutex.lock();
  ASSERT_TRUE(locking.await_ready());
  for (int i = 0; i < kManyWaiters; ++i) spawn(lock_and_note(mutex, order, i));
  EXPECT_TRUE(order.empty());
  { auto held = locking.await_resume(); }
  EXPECT_TRUE(order.empty()) << "nobody runs on the stack of who unlocks";
  reactor.settle();
  expect_in_order(order);
  EXPECT_FALSE(mutex.held());
}

TEST(AsyncMutex, IsTheNextWaitersAtOnce) {
  VirtualReactor reactor;
  AsyncMutex mutex(reactor);
  std::vector<int> order;
  auto locking = mutex.lock();
  ASSERT_TRUE(locking.await_ready());
  spawn(lock_and_note(mutex, order, 1));
  { auto held = locking.await_resume(); }
  spawn(lock_and_note(mutex, order, 2));
  EXPECT_TRUE(order.empty()) << "who comes between unlocking and the waiter's turn waits behind it";
  reactor.settle();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(WaitQueue, WakesInOrderAndDoesNotGrowTheStack) {
  VirtualReactor reactor;
  WaitQueue queue(reactor);
  std::vector<int> order;
  for (int i = 0; i < kManyWaiters; ++i) spawn(wait_and_note(queue, order, i));
  EXPECT_TRUE(queue.wake_one());
  EXPECT_TRUE(order.empty());
  queue.wake_all();
  EXPECT_FALSE(queue.wake_one());
  reactor.settle();
  expect_in_order(order);
}

TEST(WaitQueue, AWaitThatIsCancelledEndsAloneAndKnowsIt) {
  VirtualReactor reactor;
  WaitQueue queue(reactor);
  WaitQueue::Wait* wait = nullptr;
  int outcome = -1;
  const auto waiting = [&]() -> Task<void> {
    WaitQueue::Wait mine(queue);
    wait = &mine;
    const bool woken = co_await mine;
    outcome = woken ? 1 : 0;
  };
  std::vector<int> others;
  spawn(waiting());
  spawn(wait_and_note(queue, others, 7));
  wait->cancel();
  EXPECT_EQ(outcome, -1) << "it goes on in a turn of its own";
  reactor.settle();
  EXPECT_EQ(outcome, 0);
  EXPECT_TRUE(others.empty());
  queue.wake_all();
  reactor.settle();
  EXPECT_EQ(others.size(), 1U);
}

TEST(WaitQueue, CancellingComesTooLateForAWaitThatWasWoken) {
  VirtualReactor reactor;
  WaitQueue queue(reactor);
  WaitQueue::Wait* wait = nullptr;
  int outcome = -1;
  const auto waiting = [&]() -> Task<void> {
    WaitQueue::Wait mine(queue);
    wait = &mine;
    const bool woken = co_await mine;
    outcome = woken ? 1 : 0;
  };
  spawn(waiting());
  queue.wake_all();
  wait->cancel();
  reactor.settle();
  EXPECT_EQ(outcome, 1);
}

}  // namespace
}  // namespace nfsrdma
