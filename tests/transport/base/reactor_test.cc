// What both reactors promise, and what only the one with descriptors has.
#include "transport/base/reactor.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "tests/support/virtual_reactor.h"
#include "transport/base/task.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma {
namespace {

using namespace std::chrono_literals;

/// Both implementations by name.
class AnyReactor : public testing::TestWithParam<bool> {
 protected:
  AnyReactor() : reactor_(GetParam() ? make_virtual() : make_epoll_reactor()) {}

  static std::unique_ptr<Reactor> make_virtual() { return std::make_unique<VirtualReactor>(); }
  /// Runs turns until `done`; ctest's timeout ends a test whose condition never comes.
  template <class Done>
  void run_until(Done&& done) {
    while (!done()) reactor_->run_once(1ms);
  }

  std::unique_ptr<Reactor> reactor_;
  std::string order_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, AnyReactor, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Virtual" : "Epoll"; });

TEST_P(AnyReactor, TimersFireInTheOrderOfTheirDeadlines) {
  Timer late(*reactor_, [&] { order_ += 'c'; });
  Timer early(*reactor_, [&] { order_ += 'a'; });
  Timer middle(*reactor_, [&] { order_ += 'b'; });
  late.arm(3ms);
  early.arm(1ms);
  middle.arm(2ms);
  run_until([&] { return order_.size() == 3; });
  EXPECT_EQ(order_, "abc");
}

TEST_P(AnyReactor, ATimerNeverFiresEarlyAndFiresOnce) {
  const TimePoint start = reactor_->now();
  TimePoint fired{};
  int times = 0;
  Timer timer(*reactor_, [&] {
    fired = reactor_->now();
    ++times;
  });
  timer.arm(2ms);
  EXPECT_TRUE(timer.armed());
  run_until([&] { return times > 0; });
  EXPECT_GE(fired - start, 2ms);
  EXPECT_FALSE(timer.armed());
  reactor_->run_once(5ms);
  EXPECT_EQ(times, 1);
}

TEST_P(AnyReactor, ArmingAgainReplacesTheDeadline) {
  int first = 0;
  bool second = false;
  Timer timer(*reactor_, [&] { ++first; });
  Timer other(*reactor_, [&] { second = true; });
  timer.arm(1ms);
  timer.arm(1h);
  other.arm(2ms);
  run_until([&] { return second; });
  EXPECT_EQ(first, 0);
}

// Both are due in the same turn; the first handler takes the second back.
TEST_P(AnyReactor, AHandlerMayCancelATimerThatIsDueToo) {
  bool done = false;
  Timer second(*reactor_, [&] { order_ += 'x'; });
  Timer first(*reactor_, [&] {
    second.cancel();
    order_ += 'a';
  });
  Timer last(*reactor_, [&] { done = true; });
  first.arm(1ms);
  second.arm(1ms);
  last.arm(1ms);
  run_until([&] { return done; });
  EXPECT_EQ(order_, "a");
}

TEST_P(AnyReactor, AHandlerMayArmItsOwnTimerAgain) {
  int times = 0;
  std::unique_ptr<Timer> timer;
  timer = std::make_unique<Timer>(*reactor_, [&] {
    if (++times < 3) timer->arm(1ms);
  });
  timer->arm(1ms);
  run_until([&] { return times == 3; });
  EXPECT_FALSE(timer->armed());
}

TEST_P(AnyReactor, DestroyingATimerCancelsIt) {
  bool fired = false;
  bool done = false;
  {
    Timer timer(*reactor_, [&] { fired = true; });
    timer.arm(1ms);
  }
  Timer later(*reactor_, [&] { done = true; });
  later.arm(2ms);
  run_until([&] { return done; });
  EXPECT_FALSE(fired);
}

TEST_P(AnyReactor, PostedWorkRunsInOrderAndWhatItPostsRunsAfterIt) {
  reactor_->post([&] {
    order_ += 'a';
    reactor_->post([&] { order_ += 'c'; });
  });
  reactor_->post([&] { order_ += 'b'; });
  EXPECT_EQ(order_, "");
  run_until([&] { return order_.size() == 3; });
  EXPECT_EQ(order_, "abc");
}

TEST_P(AnyReactor, DeferredWorkRunsOnceHoweverOftenItIsScheduled) {
  Deferred work(*reactor_, [&] { order_ += 'w'; });
  work.schedule();
  work.schedule();
  EXPECT_TRUE(work.scheduled());
  run_until([&] { return !order_.empty(); });
  reactor_->run_once(0ms);
  EXPECT_EQ(order_, "w");
}

TEST_P(AnyReactor, DeferredWorkIsCancelledAlsoFromTheSameBatchAndByItsEnd) {
  auto destroyed = std::make_unique<Deferred>(*reactor_, [&] { order_ += 'd'; });
  Deferred cancelled(*reactor_, [&] { order_ += 'c'; });
  Deferred first(*reactor_, [&] {
    order_ += 'f';
    cancelled.cancel();
    destroyed.reset();
  });
  first.schedule();
  cancelled.schedule();
  destroyed->schedule();
  run_until([&] { return !order_.empty(); });
  reactor_->run_once(0ms);
  EXPECT_EQ(order_, "f");
}

TEST_P(AnyReactor, DisposeDestroysAfterTheCurrentEvent) {
  struct Noted {
    explicit Noted(std::string& order) : order_(order) {}
    ~Noted() { order_ += 'd'; }
    std::string& order_;
  };
  reactor_->post([&] {
    reactor_->dispose(std::make_unique<Noted>(order_));
    order_ += 'e';
  });
  run_until([&] { return order_.size() == 2; });
  EXPECT_EQ(order_, "ed");
}

TEST_P(AnyReactor, StopEndsRun) {
  reactor_->post([&] {
    order_ += 's';
    reactor_->stop();
  });
  reactor_->run();
  EXPECT_EQ(order_, "s");
}

TEST_P(AnyReactor, WorkFromOtherThreadsRunsAllOfItOnThisOne) {
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;
  const auto here = std::this_thread::get_id();
  int done = 0;  // only ever touched by the reactor's thread: the thread sanitizer checks it
  bool elsewhere = false;
  std::array<std::thread, kThreads> threads;
  for (auto& thread : threads) {
    thread = std::thread([&] {
      for (int i = 0; i < kEach; ++i) {
        reactor_->wake_from_other_thread([&] {
          ++done;
          elsewhere |= std::this_thread::get_id() != here;
        });
      }
    });
  }
  run_until([&] { return done == kThreads * kEach; });
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(elsewhere);
}

Task<void> nap(Reactor& reactor, Duration pause, std::string& order, char name) {
  co_await Sleep(reactor, pause);
  order += name;
}

TEST_P(AnyReactor, SleepResumesTheSleeper) {
  spawn(nap(*reactor_, 2ms, order_, 'b'));
  spawn(nap(*reactor_, 1ms, order_, 'a'));
  spawn(nap(*reactor_, 0ms, order_, '0'));
  EXPECT_EQ(order_, "0");
  run_until([&] { return order_.size() == 3; });
  EXPECT_EQ(order_, "0ab");
}

TEST(VirtualReactor, PassesALeaseOfNinetySecondsAtOnce) {
  VirtualReactor reactor;
  int renewals = 0;
  std::unique_ptr<Timer> renew;
  renew = std::make_unique<Timer>(reactor, [&] {
    ++renewals;
    renew->arm(30s);
  });
  renew->arm(30s);
  reactor.advance(90s);
  EXPECT_EQ(renewals, 3);
  EXPECT_EQ(reactor.now(), TimePoint(90s));
}

TEST(VirtualReactor, TimersOfOneInstantFireInTheOrderTheyWereArmed) {
  VirtualReactor reactor;
  std::string order;
  Timer b(reactor, [&] { order += 'b'; });
  Timer a(reactor, [&] { order += 'a'; });
  a.arm(1s);
  b.arm(1s);
  reactor.advance(1s);
  EXPECT_EQ(order, "ab");
}

TEST(VirtualReactor, AdvanceEndsWithStop) {
  VirtualReactor reactor;
  Timer timer(reactor, [&] { reactor.stop(); });
  timer.arm(std::chrono::seconds(1));
  reactor.advance(std::chrono::seconds(5));
  EXPECT_EQ(reactor.now(), TimePoint(std::chrono::seconds(1)));
}

TEST(VirtualReactor, ATimerThatIsArmedAgainForNowWaitsForTheNextTurn) {
  VirtualReactor reactor;
  int fired = 0;
  Timer timer(reactor, [&] {
    ++fired;
    timer.arm(Duration::zero());
  });
  timer.arm(Duration::zero());
  reactor.run_once(Duration::zero());
  EXPECT_EQ(fired, 1);
  timer.cancel();
}

TEST(VirtualReactor, SettleDoesNotMoveTime) {
  VirtualReactor reactor;
  bool fired = false;
  bool posted = false;
  Timer timer(reactor, [&] { fired = true; });
  timer.arm(1ns);
  reactor.post([&] { posted = true; });
  reactor.settle();
  EXPECT_TRUE(posted);
  EXPECT_FALSE(fired);
  EXPECT_EQ(reactor.now(), TimePoint(0));
}

/// A pipe whose reading end is watched.
struct WatchedPipe final : FdHandler {
  WatchedPipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    reading = UniqueFd(ends[0]);
    writing = UniqueFd(ends[1]);
  }
  void on_ready(std::uint32_t events) override { on_event(events); }
  void write_byte() const { EXPECT_EQ(::write(writing.get(), "x", 1), 1); }
  void read_byte() const {
    char byte;
    EXPECT_EQ(::read(reading.get(), &byte, 1), 1);
  }

  UniqueFd reading;
  UniqueFd writing;
  std::function<void(std::uint32_t)> on_event = [](std::uint32_t) {};
};

class EpollReactor : public testing::Test {
 protected:
  std::unique_ptr<Reactor> reactor_ = make_epoll_reactor();
};

TEST_F(EpollReactor, TellsTheHandlerOfAReadyDescriptor) {
  WatchedPipe pipe;
  std::uint32_t seen = 0;
  pipe.on_event = [&](std::uint32_t events) {
    seen = events;
    pipe.read_byte();
  };
  ASSERT_TRUE(reactor_->watch(pipe.reading.get(), EPOLLIN, pipe));
  EXPECT_FALSE(reactor_->run_once(0ms));
  pipe.write_byte();
  EXPECT_TRUE(reactor_->run_once(-1ns));
  EXPECT_EQ(seen, std::uint32_t{EPOLLIN});
  reactor_->unwatch(pipe.reading.get());
}

// Both descriptors are ready in one batch of epoll; the handler of whichever comes first takes the
// interest in the other back.
TEST_F(EpollReactor, AHandlerMayUnwatchADescriptorOfTheSameBatch) {
  WatchedPipe one;
  WatchedPipe two;
  int told = 0;
  one.on_event = [&](std::uint32_t) {
    ++told;
    reactor_->unwatch(two.reading.get());
  };
  two.on_event = [&](std::uint32_t) {
    ++told;
    reactor_->unwatch(one.reading.get());
  };
  ASSERT_TRUE(reactor_->watch(one.reading.get(), EPOLLIN, one));
  ASSERT_TRUE(reactor_->watch(two.reading.get(), EPOLLIN, two));
  one.write_byte();
  two.write_byte();
  EXPECT_TRUE(reactor_->run_once(-1ns));
  EXPECT_EQ(told, 1);
}

TEST_F(EpollReactor, ModifyChangesTheInterest) {
  WatchedPipe pipe;
  int told = 0;
  pipe.on_event = [&](std::uint32_t) { ++told; };
  ASSERT_TRUE(reactor_->watch(pipe.reading.get(), EPOLLIN, pipe));
  pipe.write_byte();
  ASSERT_TRUE(reactor_->modify(pipe.reading.get(), 0, pipe));
  EXPECT_FALSE(reactor_->run_once(0ms));
  EXPECT_EQ(told, 0);
  ASSERT_TRUE(reactor_->modify(pipe.reading.get(), EPOLLIN, pipe));
  EXPECT_TRUE(reactor_->run_once(-1ns));
  EXPECT_EQ(told, 1);
  reactor_->unwatch(pipe.reading.get());
}

TEST_F(EpollReactor, ReportsWhatEpollRefuses) {
  WatchedPipe pipe;
  const auto result = reactor_->watch(-1, EPOLLIN, pipe);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().is(Layer::system, EBADF));
}

TEST_F(EpollReactor, WakesFromItsWaitForAnotherThread) {
  bool woken = false;
  std::thread other([&] { reactor_->wake_from_other_thread([&] { woken = true; }); });
  while (!woken) reactor_->run_once(-1ns);
  other.join();
  EXPECT_TRUE(woken);
}

}  // namespace
}  // namespace nfsrdma
