// The origin follows a coroutine through whatever it waits for, and reaches no other.
#include "transport/base/origin.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/virtual_reactor.h"
#include "transport/base/buffer_wait.h"
#include "transport/base/sync/event.h"
#include "transport/base/sync/pauses.h"
#include "transport/base/sync/task_group.h"

namespace nfsrdma {
namespace {

using namespace std::chrono_literals;

class OriginTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(present_origin(), kNoOrigin) << "it was left behind"; }

  void note() { seen_.push_back(present_origin()); }
  void start_for(Origin origin, Task<void> task) {
    const OriginScope scope(origin);
    spawn(std::move(task));
  }
  static Task<void> sleep(OriginTest* test) {
    co_await Sleep(test->reactor_, 1s);
    test->note();
  }
  static Task<void> wait(OriginTest* test) {
    co_await test->event_.wait(Duration::max());
    test->note();
    co_await test->queue_.wait();
    test->note();
  }
  static Task<void> pause(OriginTest* test) {
    co_await test->pauses_.pause(1s);
    test->note();
  }
  static Task<void> take_buffer(OriginTest* test, BufferPool* pool) {
    const Buffer buffer = co_await acquire_when_free(test->reactor_, *pool);
    test->note();
  }
  static Task<void> note_now(OriginTest* test) {
    test->note();
    co_return;
  }

  VirtualReactor reactor_;
  Event event_{reactor_};
  WaitQueue queue_{reactor_};
  Pauses pauses_{reactor_};
  std::vector<Origin> seen_;
};

TEST_F(OriginTest, ScopesNest) {
  EXPECT_EQ(present_origin(), kNoOrigin);
  {
    const OriginScope outer(5);
    {
      const OriginScope inner(6);
      EXPECT_EQ(present_origin(), 6U);
    }
    EXPECT_EQ(present_origin(), 5U);
  }
  EXPECT_EQ(present_origin(), kNoOrigin);
}

TEST_F(OriginTest, IsKeptOverSleepsAndPauses) {
  start_for(5, sleep(this));
  start_for(6, pause(this));
  start_for(kNoOrigin, sleep(this));
  reactor_.advance(2s);
  std::ranges::sort(seen_);
  EXPECT_EQ(seen_, (std::vector<Origin>{kNoOrigin, 5, 6}));
}

// The waker works for another request.
TEST_F(OriginTest, IsTheWaitersNotTheWakers) {
  start_for(5, wait(this));
  start_for(6, wait(this));
  {
    const OriginScope waker(7);
    event_.set();
  }
  reactor_.settle();
  {
    const OriginScope waker(8);
    queue_.wake_all();
  }
  reactor_.settle();
  EXPECT_EQ(seen_, (std::vector<Origin>{5, 6, 5, 6}));
}

TEST_F(OriginTest, IsKeptWhileABufferIsWaitedFor) {
  auto pool = BufferPool::create(4096, 1);
  ASSERT_TRUE(pool);
  Buffer only = (*pool)->acquire();
  start_for(5, take_buffer(this, pool->get()));
  {
    const OriginScope other(6);
    only.reset();
  }
  reactor_.settle();
  EXPECT_EQ(seen_, std::vector<Origin>{5});
}

TEST_F(OriginTest, BackgroundWorkHasNone) {
  TaskGroup background(reactor_);
  const OriginScope scope(5);
  background.start(note_now(this));
  EXPECT_EQ(seen_, std::vector{kNoOrigin});
  EXPECT_EQ(present_origin(), 5U);
}

}  // namespace
}  // namespace nfsrdma
