// Waiting of coroutines: in the order of arrival, each woken in a turn of its own.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/support/virtual_reactor.h"
#include "transport/base/sync/async_mutex.h"
#include "transport/base/sync/event.h"
#include "transport/base/sync/in_flight_set.h"
#include "transport/base/sync/pauses.h"
#include "transport/base/sync/task_group.h"
#include "transport/base/sync/wait_queue.h"
#include "transport/base/task.h"

namespace nfsrdma {
namespace {

using namespace std::chrono_literals;

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
  EXPECT_TRUE(order.empty()) << "no waiter runs on the stack of the one that unlocks";
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
  EXPECT_TRUE(order.empty())
      << "a caller between the unlock and the turn of the waiter waits behind it";
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

/// A wait that can be cancelled.
struct Cancellable {
  WaitQueue::Wait* wait = nullptr;
  int outcome = -1;  ///< 1: woken, 0: cancelled
};

Task<void> wait_cancellably(WaitQueue& queue, Cancellable& of) {
  WaitQueue::Wait mine(queue);
  of.wait = &mine;
  const bool woken = co_await mine;
  of.outcome = woken ? 1 : 0;
}

TEST(WaitQueue, AWaitThatIsCancelledEndsAloneAndKnowsIt) {
  VirtualReactor reactor;
  WaitQueue queue(reactor);
  Cancellable cancelled;
  std::vector<int> others;
  spawn(wait_cancellably(queue, cancelled));
  spawn(wait_and_note(queue, others, 7));
  cancelled.wait->cancel();
  EXPECT_EQ(cancelled.outcome, -1) << "it goes on in a turn of its own";
  reactor.settle();
  EXPECT_EQ(cancelled.outcome, 0);
  EXPECT_TRUE(others.empty());
  queue.wake_all();
  reactor.settle();
  EXPECT_EQ(others.size(), 1U);
}

TEST(WaitQueue, CancellingComesTooLateForAWaitThatWasWoken) {
  VirtualReactor reactor;
  WaitQueue queue(reactor);
  Cancellable cancelled;
  spawn(wait_cancellably(queue, cancelled));
  queue.wake_all();
  cancelled.wait->cancel();
  reactor.settle();
  EXPECT_EQ(cancelled.outcome, 1);
}

TEST(WaitQueue, OneThatIsDestroyedWhileItWaitsLeavesTheQueue) {
  VirtualReactor reactor;
  WaitQueue queue(reactor);
  std::vector<int> order;
  {
    auto left = wait_and_note(queue, order, 1);
    EXPECT_FALSE(left.await_ready());
    spawn(wait_and_note(queue, order, 2));
  }
  EXPECT_EQ(queue.size(), 1U);
  queue.wake_all();
  reactor.settle();
  EXPECT_EQ(order, std::vector{2});
}

TEST(WaitQueue, OneCanBeWokenBeforeItsTurn) {
  struct Numbered : WaitQueue::Wait {
    Numbered(WaitQueue& queue, int the_number) : Wait(queue), number(the_number) {}
    int number;
  };
  VirtualReactor reactor;
  WaitQueueOf<Numbered> queue(reactor);
  std::vector<int> order;
  const auto wait = [&](int number) -> Task<void> {
    Numbered mine(queue, number);
    const bool woken = co_await mine;
    order.push_back(woken ? number : -number);
  };
  for (int i = 1; i <= 3; ++i) spawn(wait(i));
  EXPECT_EQ(queue.first()->number, 1);
  queue.for_each([](Numbered& each) {
    if (each.number == 2) each.wake();
  });
  reactor.settle();
  EXPECT_EQ(order, std::vector{2});
  queue.wake_all();
  reactor.settle();
  EXPECT_EQ(order, (std::vector{2, 1, 3}));
}

Task<void> await_event(Event& event, Duration longest, std::vector<int>& order, int number) {
  const bool happened = co_await event.wait(longest);
  order.push_back(happened ? number : -number);
}

TEST(Event, WakesAllInOrderInALaterTurnAndHoldsUpNobodyAfterwards) {
  VirtualReactor reactor;
  Event event(reactor);
  std::vector<int> order;
  for (int i = 0; i < kManyWaiters; ++i) {
    spawn(await_event(event, TimedWait::kUnbounded, order, i));
  }
  event.set();
  EXPECT_TRUE(order.empty());
  reactor.settle();
  expect_in_order(order);
  order.clear();
  spawn(await_event(event, 1s, order, 7));
  EXPECT_EQ(order, std::vector{7});
}

TEST(Event, AWaiterGivesUpWhenItsTimeIsUpAndNoTimerStays) {
  VirtualReactor reactor;
  Event event(reactor);
  std::vector<int> order;
  spawn(await_event(event, 3s, order, 1));
  spawn(await_event(event, 1s, order, 2));
  reactor.advance(2s);
  EXPECT_EQ(order, std::vector{-2});
  event.set();
  reactor.settle();
  EXPECT_EQ(order, (std::vector{-2, 1}));
  EXPECT_EQ(reactor.timers_armed(), 0U);
}

Task<void> pause_and_note(Pauses& pauses, Duration length, std::vector<int>& order, int number) {
  const bool slept = co_await pauses.pause(length);
  order.push_back(slept ? number : -number);
}

TEST(Pauses, EndByTimeAndAllAtOnceWhenTheirOwnerEnds) {
  VirtualReactor reactor;
  Pauses pauses(reactor);
  std::vector<int> order;
  spawn(pause_and_note(pauses, 2s, order, 1));
  spawn(pause_and_note(pauses, 1s, order, 2));
  reactor.advance(1500ms);
  EXPECT_EQ(order, std::vector{2});
  pauses.interrupt();
  EXPECT_EQ(order.size(), 1U);
  reactor.settle();
  spawn(pause_and_note(pauses, 1s, order, 3));
  EXPECT_EQ(order, (std::vector{2, -1, -3}));
  EXPECT_EQ(reactor.timers_armed(), 0U);
}

TEST(Pauses, OneIsCutShortAloneEvenBeforeItBegins) {
  VirtualReactor reactor;
  Pauses pauses(reactor);
  std::vector<int> order;
  const auto sleep = [&](bool cut_before) -> Task<void> {
    Pauses::Pause pause(pauses, 1s);
    if (cut_before) pause.cut_short();
    const bool slept = co_await pause;
    order.push_back(slept && pause.was_cut_short() ? 1 : 0);
  };
  spawn(sleep(true));
  EXPECT_EQ(order, std::vector{1});
  spawn(sleep(false));
  reactor.advance(1s);
  EXPECT_EQ(order, (std::vector{1, 0}));
}

TEST(TaskGroup, IsEmptyWhenTheLastTaskHasEnded) {
  VirtualReactor reactor;
  TaskGroup group(reactor);
  bool over = false;
  const auto work = [&](Duration length) -> Task<void> { co_await Sleep(reactor, length); };
  const auto watch = [&]() -> Task<void> {
    co_await group.empty();
    over = true;
  };
  group.start(work(1s));
  group.start(work(2s));
  spawn(watch());
  reactor.advance(1500ms);
  EXPECT_FALSE(over);
  reactor.advance(1s);
  EXPECT_TRUE(over);
}

TEST(InFlightSet, WaitsForThoseThatBeganBeforeAndForNoneThatBeginsLater) {
  VirtualReactor reactor;
  InFlightSet set(reactor);
  std::vector<int> order;
  const auto watch = [&](int number) -> Task<void> {
    co_await set.wait();
    order.push_back(number);
  };
  std::optional<InFlightSet::One> first(set);
  for (int i = 0; i < kManyWaiters; ++i) spawn(watch(i));
  std::optional<InFlightSet::One> second(set);
  first.reset();
  EXPECT_TRUE(order.empty());
  reactor.settle();
  expect_in_order(order);
  second.reset();
  EXPECT_EQ(set.ended(), 2U);
}

}  // namespace
}  // namespace nfsrdma
