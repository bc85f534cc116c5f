#include "transport/base/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/virtual_reactor.h"
#include "tests/transport/base/allocations.h"
#include "transport/base/result.h"

namespace nfsrdma {
namespace {

constexpr int kManyAwaits = 1'000'000;

Task<int> answer(int value) { co_return value; }

Task<void> add_synchronously(int times, long& sum) {
  for (int i = 0; i < times; ++i) {
    const int one = co_await answer(1);
    sum += one;
  }
}

// A child that finishes without suspending must not leave a frame on the stack: g++ 12 makes no
// tail call of a symmetric transfer below -O2 and under sanitizers.
TEST(Task, AMillionChildrenThatFinishAtOnceDoNotGrowTheStack) {
  long sum = 0;
  spawn(add_synchronously(kManyAwaits, sum));
  EXPECT_EQ(sum, kManyAwaits);
}

/// Suspends until the reactor's next turn.
class NextTurn {
 public:
  explicit NextTurn(Reactor& reactor) : reactor_(reactor) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) { reactor_.post(waiter); }
  void await_resume() const noexcept {}

 private:
  Reactor& reactor_;
};

Task<int> answer_later(Reactor& reactor, int value) {
  co_await NextTurn(reactor);
  co_return value;
}

Task<void> add_later(Reactor& reactor, int times, long& sum) {
  for (int i = 0; i < times; ++i) {
    const int one = co_await answer_later(reactor, 1);
    sum += one;
  }
}

TEST(Task, ChildrenThatSuspendDoNotGrowTheStackEither) {
  constexpr int kTimes = 100'000;
  VirtualReactor reactor;
  long sum = 0;
  spawn(add_later(reactor, kTimes, sum));
  EXPECT_EQ(sum, 0);
  reactor.settle();
  EXPECT_EQ(sum, kTimes);
}

Task<int> depth(Reactor& reactor, int levels) {
  if (levels == 0) {
    co_await NextTurn(reactor);
    co_return 0;
  }
  const int below = co_await depth(reactor, levels - 1);
  co_return below + 1;
}

Task<void> store(Task<int> task, int& result) {
  const int value = co_await std::move(task);
  result = value;
}

TEST(Task, AChainOfSuspendedTasksResumesFromTheInside) {
  constexpr int kLevels = 500;
  VirtualReactor reactor;
  int result = -1;
  spawn(store(depth(reactor, kLevels), result));
  EXPECT_EQ(result, -1);
  reactor.settle();
  EXPECT_EQ(result, kLevels);
}

Task<void> note(std::string& order, char name, Reactor& reactor) {
  order += name;
  co_await NextTurn(reactor);
  order += name;
}

TEST(Task, SpawnRunsAtOnceUntilTheFirstSuspension) {
  VirtualReactor reactor;
  std::string order;
  spawn(note(order, 'a', reactor));
  spawn(note(order, 'b', reactor));
  EXPECT_EQ(order, "ab");
  reactor.settle();
  EXPECT_EQ(order, "abab");
}

Task<void> hold(std::shared_ptr<int> held, Reactor& reactor) {
  co_await NextTurn(reactor);
  *held += 1;
}

TEST(Task, FreesItsParametersWhenItEnds) {
  VirtualReactor reactor;
  auto held = std::make_shared<int>(0);
  spawn(hold(held, reactor));
  EXPECT_EQ(held.use_count(), 2);
  reactor.settle();
  EXPECT_EQ(*held, 1);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Task, ThatIsNeverAwaitedNeverRunsAndFreesItsParameters) {
  VirtualReactor reactor;
  auto held = std::make_shared<int>(0);
  {
    const Task<void> unused = hold(held, reactor);
    EXPECT_EQ(held.use_count(), 2);
  }
  reactor.settle();
  EXPECT_EQ(*held, 0);
  EXPECT_EQ(held.use_count(), 1);
}

Task<Result<std::unique_ptr<int>>> make(int value) {
  if (value < 0) co_return fail(Error::local(EINVAL, "make"));
  co_return std::make_unique<int>(value);
}

Task<Result<int>> doubled(int value) {
  auto made = co_await make(value);
  CO_TRY(made);
  co_return **made * 2;
}

Task<void> run_doubled(int value, std::optional<Result<int>>& out) {
  auto result = co_await doubled(value);
  out.emplace(std::move(result));
}

TEST(Task, CarriesResultsThatCanOnlyBeMoved) {
  std::optional<Result<int>> out;
  spawn(run_doubled(21, out));
  ASSERT_TRUE(out.has_value());
  ASSERT_TRUE(out->has_value());
  EXPECT_EQ(**out, 42);
}

TEST(Task, CoTryLeavesWithTheError) {
  std::optional<Result<int>> out;
  spawn(run_doubled(-1, out));
  ASSERT_TRUE(out.has_value());
  ASSERT_FALSE(out->has_value());
  EXPECT_TRUE(out->error().is(Layer::local, EINVAL));
}

// Frames come from a pool: once it is warm, protocol steps allocate nothing.
TEST(Task, AllocatesNothingOnceItsFramesWereUsed) {
  long sum = 0;
  spawn(add_synchronously(1, sum));
  const std::size_t before = testing_support::allocations();
  spawn(add_synchronously(100, sum));
  EXPECT_EQ(testing_support::allocations(), before);
  EXPECT_EQ(sum, 101);
}

TEST(FramePool, GivesBackTheFrameLastReleasedOfThatSizeClass) {
  void* first = FramePool::allocate(300);
  FramePool::release(first, 300);
  void* again = FramePool::allocate(400);  // the same class of 512
  EXPECT_EQ(again, first);
  void* other = FramePool::allocate(600);
  EXPECT_NE(other, first);
  FramePool::release(again, 400);
  FramePool::release(other, 600);
}

TEST(FramePool, TakesFramesTooLargeForItFromTheHeap) {
  constexpr std::size_t kTooLarge = 1 << 20;
  const std::size_t before = testing_support::allocations();
  for (int i = 0; i < 2; ++i) {
    void* frame = FramePool::allocate(kTooLarge);
    ASSERT_NE(frame, nullptr);
    FramePool::release(frame, kTooLarge);
  }
  EXPECT_EQ(testing_support::allocations(), before + 2);
}

}  // namespace
}  // namespace nfsrdma
