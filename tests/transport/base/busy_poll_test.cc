// When a reactor looks for the next event before it sleeps, and when it must not.
#include "transport/base/busy_poll.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <map>
#include <string>

#include "transport/base/unique_fd.h"

namespace nfsrdma {
namespace {

using namespace std::chrono_literals;

constexpr int kHistory = 64;  // waits that count
constexpr int kUsually = 48;  // of them, short ones

/// A machine of two processors, of which a test says how busy they are.
class Machine {
 public:
  SpareProcessor::Source source() {
    return [this](TimePoint at) -> std::optional<ProcessorTimes> {
      ++looked_at;
      times_.at = at;
      if (!tells) return {};
      return times_;
    };
  }
  /// Time passes: so much of it idle, of both processors together, and so on.
  void pass(Duration time, Duration idle, Duration slept, Duration queued = 0ns) {
    now += time;
    times_.idle += idle;
    times_.queued += queued;
    slept_for += slept;
  }
  /// A tenth of a second in which one processor was idle, half of it because this thread slept.
  void pass_half_idle() { pass(100ms, 100ms, 50ms); }
  /// The same, of which no processor was idle.
  void pass_busy() { pass(100ms, 0ms, 0ms); }

  TimePoint now = 1h;
  Duration slept_for{};
  bool tells = true;
  int looked_at = 0;

 private:
  ProcessorTimes times_;
};

class SpareProcessorTest : public testing::Test {
 protected:
  bool has() { return spare_.has(machine_.now, machine_.slept_for); }

  Machine machine_;
  SpareProcessor spare_{machine_.source()};
};

TEST_F(SpareProcessorTest, IsNotThereBeforeTwoLooks) {
  EXPECT_FALSE(has());
  machine_.pass_half_idle();
  EXPECT_TRUE(has());
}

TEST_F(SpareProcessorTest, IsWhatStaysIdleWhenThisThreadDoesNotSleep) {
  has();
  machine_.pass(200ms, 200ms, 151ms);
  EXPECT_FALSE(has()) << "idle because this thread slept";
  machine_.pass(200ms, 200ms, 150ms);
  EXPECT_TRUE(has());
  machine_.pass(200ms, 50ms, 0ms);
  EXPECT_TRUE(has()) << "it stayed awake, and a quarter of a processor was idle";
}

TEST_F(SpareProcessorTest, IsNotThereForAThreadThatHasToWait) {
  has();
  machine_.pass(200ms, 300ms, 100ms, 51ms);
  EXPECT_FALSE(has()) << "its cgroup has used its quota up";
  machine_.pass(200ms, 300ms, 100ms, 50ms);
  EXPECT_TRUE(has());
}

TEST_F(SpareProcessorTest, IsNotThereWhereTheSystemDoesNotTell) {
  machine_.tells = false;
  has();
  machine_.pass_half_idle();
  EXPECT_FALSE(has());
  machine_.tells = true;
  machine_.pass_half_idle();
  EXPECT_FALSE(has()) << "the first look";
  machine_.pass_half_idle();
  EXPECT_TRUE(has());
}

TEST_F(SpareProcessorTest, IsLookedForTenTimesASecondAtMost) {
  for (int i = 0; i < 1000; ++i) {
    has();
    machine_.pass(1ms, 1ms, 0ms);
  }
  EXPECT_EQ(machine_.looked_at, 10);
}

TEST_F(SpareProcessorTest, IsTriedLessOftenEachTimeThatItDoesNotLast) {
  // A machine on which looking always takes the processor from somebody.
  const auto until_next_yes = [&] {
    const TimePoint start = machine_.now;
    while (!has()) machine_.pass_half_idle();
    const Duration took = machine_.now - start;
    machine_.pass_busy();
    EXPECT_FALSE(has());
    return took;
  };
  EXPECT_EQ(until_next_yes(), 100ms);
  EXPECT_EQ(until_next_yes(), 100ms);
  EXPECT_EQ(until_next_yes(), 200ms);
  EXPECT_EQ(until_next_yes(), 400ms);
  for (int i = 0; i < 2; ++i) until_next_yes();
  EXPECT_EQ(until_next_yes(), 2s);
  EXPECT_EQ(until_next_yes(), 2s);
  // One that lasts is forgiven.
  while (!has()) machine_.pass_half_idle();
  machine_.pass_half_idle();
  EXPECT_TRUE(has());
  machine_.pass_busy();
  EXPECT_FALSE(has());
  EXPECT_EQ(until_next_yes(), 100ms);
}

class BusyPollCase : public testing::Test, private CounterVisitor {
 protected:
  BusyPollCase(Duration longest, SpareProcessor::Source source)
      : poll_(longest, std::move(source)) {
    note_waits(1us, kHistory);
  }
  /// It slept.
  void note_waits(Duration wait, int times) {
    for (int i = 0; i < times; ++i) poll_.note(wait, false, false);
  }
  /// It looked first.
  void note_looks(Duration wait, int times) {
    for (int i = 0; i < times; ++i) poll_.note(wait, true, wait <= poll_.longest());
  }
  std::uint64_t counter(const std::string& name) {
    poll_.visit_counters(*this);
    return counters_.at(name);
  }

  BusyPoll poll_;

 private:
  void visit(std::string_view name, std::uint64_t value) override {
    counters_[std::string(name)] = value;
  }

  std::map<std::string, std::uint64_t> counters_;
};

class BusyPollTest : private Machine, public BusyPollCase {
 protected:
  BusyPollTest() : BusyPollCase(100us, source()) {
    (void)pays();  // a first look
    pass_half_idle();
  }
  bool pays() { return poll_.pays(now); }
  Machine& machine() { return *this; }
};

TEST_F(BusyPollTest, PaysWhereThreeOfFourWaitsAreShort) {
  EXPECT_TRUE(pays());
  note_looks(101us, kHistory - kUsually);
  EXPECT_TRUE(pays());
  note_looks(101us, 1);
  EXPECT_FALSE(pays());
  note_looks(100us, kHistory);
  EXPECT_TRUE(pays());
}

// A thread that sleeps is woken late: 50 us later than it would have found what it waited for.
TEST_F(BusyPollTest, PaysAgainWhereWaitsAreLongBecauseItSleeps) {
  note_looks(101us, kHistory);
  EXPECT_FALSE(pays());
  note_waits(151us, kHistory);
  EXPECT_FALSE(pays());
  note_waits(150us, kHistory);
  EXPECT_TRUE(pays());
}

TEST_F(BusyPollTest, DoesNotPayWhereNoProcessorIsIdle) {
  EXPECT_TRUE(pays());
  machine().pass_busy();
  EXPECT_FALSE(pays());
}

TEST_F(BusyPollTest, PaysForAThreadThatSeldomHasWork) {
  // One processor is idle, as this thread slept, but most of its waits were long.
  note_waits(200ms, 10);
  machine().pass(2s, 2s, 0ms);
  EXPECT_TRUE(pays());
  // It was not idle for longer than the time that this thread would have looked.
  note_waits(100us, 1900);
  machine().pass(200ms, 199ms, 0ms);
  EXPECT_FALSE(pays());
}

TEST_F(BusyPollTest, DoesNotAskTheSystemWhereWaitsAreLong) {
  note_waits(10ms, kHistory);
  const int before = machine().looked_at;
  machine().pass_half_idle();
  EXPECT_FALSE(pays());
  EXPECT_EQ(machine().looked_at, before);
}

TEST_F(BusyPollTest, IsOffWithNoTimeToLook) {
  EXPECT_TRUE(poll_.on());
  EXPECT_FALSE(BusyPoll(0us).on());
}

/// A reactor that waits for an eventfd, on a machine that always has a processor to spare.
class BusyPollReactor : public BusyPollCase, public FdHandler {
 protected:
  static constexpr Duration kLongest = 5ms;

  BusyPollReactor() : BusyPollCase(kLongest, one_of_two_idle) {
    EXPECT_TRUE(reactor_->watch(event_.get(), EPOLLIN, *this));
    (void)poll_.pays(1ns);  // a first look
    EXPECT_TRUE(poll_.pays(reactor_->now()));
  }
  /// One processor is always idle, and the other runs this thread.
  static std::optional<ProcessorTimes> one_of_two_idle(TimePoint now) {
    return ProcessorTimes{now, now, 0ns};
  }
  void on_ready(std::uint32_t) override {
    ++events_;
    std::uint64_t count = 0;
    EXPECT_EQ(::read(event_.get(), &count, sizeof count), ssize_t{sizeof count});
  }
  void signal() const {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(event_.get(), &one, sizeof one), ssize_t{sizeof one});
  }

  UniqueFd event_{::eventfd(0, EFD_CLOEXEC)};
  std::unique_ptr<Reactor> reactor_ = make_epoll_reactor(poll_);
  int events_ = 0;
};

TEST_F(BusyPollReactor, FindsAnEventWithoutSleeping) {
  signal();
  EXPECT_TRUE(reactor_->run_once(-1ns));
  EXPECT_EQ(events_, 1);
  EXPECT_EQ(counter("busy_polls"), 1u);
  EXPECT_EQ(counter("busy_polls_found"), 1u);
}

TEST_F(BusyPollReactor, SleepsWhenItHasLookedLongEnough) {
  bool fired = false;
  const TimePoint start = reactor_->now();
  Timer timer(*reactor_, [&] { fired = true; });
  timer.arm(4 * kLongest);
  while (!fired) reactor_->run_once(-1ns);
  EXPECT_GE(reactor_->now() - start, 4 * kLongest);
  EXPECT_GE(counter("busy_polls"), 1u);
  EXPECT_EQ(counter("busy_polls_found"), 0u);
}

TEST_F(BusyPollReactor, DoesNotLookBeyondATimer) {
  bool fired = false;
  Timer timer(*reactor_, [&] { fired = true; });
  timer.arm(1us);
  while (!fired) reactor_->run_once(-1ns);
  EXPECT_EQ(events_, 0);
  EXPECT_EQ(counter("busy_polls_found"), 0u);
}

TEST_F(BusyPollReactor, DoesNotLookWhenItMustNotWait) {
  EXPECT_FALSE(reactor_->run_once(0ns));
  EXPECT_EQ(counter("busy_polls"), 0u);
}

TEST_F(BusyPollReactor, NeverLooksWithNoTimeToLook) {
  int looked_at = 0;
  BusyPoll off(0us, [&](TimePoint now) {
    ++looked_at;
    return one_of_two_idle(now);
  });
  const auto reactor = make_epoll_reactor(off);
  for (int i = 0; i < 2 * kHistory; ++i) {
    reactor->post([] {});
    reactor->run_once(1ms);
    reactor->run_once(1us);
  }
  EXPECT_EQ(looked_at, 0);
}

TEST(ProcessorTimes, OfThisThread) {
  const auto before = read_processor_times(1h);
  ASSERT_TRUE(before) << "/proc/stat, /proc/thread-self/schedstat";
  EXPECT_EQ(before->at, TimePoint(1h));
  const auto after = read_processor_times(2h);
  ASSERT_TRUE(after);
  EXPECT_GT(before->idle, 0ns);
  EXPECT_GE(after->idle, before->idle);
  EXPECT_GE(after->queued, before->queued);
}

// A thread that has one processor to run on is never told that another one's idleness is its own.
TEST(ProcessorTimes, OfTheProcessorsThatThisThreadMayUse) {
  const auto all = read_processor_times(0ns);
  ASSERT_TRUE(all);
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one processor";
  Duration sum{};
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &before)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    const auto times = read_processor_times(0ns);
    ASSERT_TRUE(times);
    EXPECT_GT(times->idle, 0ns);
    sum += times->idle;
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  const auto later = read_processor_times(0ns);
  ASSERT_TRUE(later);
  EXPECT_GE(sum, all->idle);
  EXPECT_LE(sum, later->idle);
}

}  // namespace
}  // namespace nfsrdma
