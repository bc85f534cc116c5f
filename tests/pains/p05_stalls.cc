// P5: a call that waits for a credit, a Send, a slot or a message buffer gets it as soon as there
// is one. A model says whether anybody waits although nothing is in the way.
#include <gtest/gtest.h>

#include <coroutine>
#include <list>
#include <random>

#include "client/requests/getattr.h"
#include "client/session/slot_table.h"
#include "client/session/stall_watch.h"
#include "tests/client/fake_mount.h"
#include "tests/support/full_size.h"
#include "tests/transport/rdma/harness.h"
#include "transport/base/task.h"

namespace nfsrdma::test {
namespace {

constexpr int kUsers = 64;

/// Users of one connection, a server that grants one to four credits, and a provider that
/// completes Sends when it likes.
class P05_Stalls : public ::testing::Test {
 protected:
  static Harness::Setup setup() {
    Harness::Setup setup;
    setup.options.credits = 4;
    return setup;
  }
  void SetUp() override {
    harness_.fabric.sends_complete = false;
    harness_.connect();
    for (int i = 0; i < kUsers; ++i) {
      calls_.emplace_back(harness_, static_cast<std::uint32_t>(i + 1));
      TestCall& call = calls_.back();
      call.on_done = [this, &call] {
        ASSERT_TRUE(call.ok());
        call.call.reply.reset();
        idle_.push_back(&call);
      };
      idle_.push_back(&call);
    }
  }
  unsigned any(unsigned below) { return random_() % below; }

  void submit_one() {
    if (idle_.empty()) return;
    const auto place = std::next(idle_.begin(), any(static_cast<unsigned>(idle_.size())));
    TestCall* call = *place;
    idle_.erase(place);
    call->submit();
    ++submitted_;
  }
  /// Answers one of those that were sent, in any order.
  void answer_one() {
    if (open_.empty()) return;
    std::swap(open_[any(static_cast<unsigned>(open_.size()))], open_.back());
    const std::size_t index = open_.back();
    open_.pop_back();
    harness_.answer(index, 1 + any(4));
  }
  void complete_one() {
    if (sending_.empty()) return;
    std::swap(sending_[any(static_cast<unsigned>(sending_.size()))], sending_.back());
    harness_.peer().complete_send(sending_.back());
    sending_.pop_back();
    harness_.settle();
  }
  void note_sent() {
    harness_.settle();
    for (; noted_ < harness_.peer().sent_count(); ++noted_) {
      open_.push_back(noted_);
      sending_.push_back(noted_);
    }
  }
  /// Nothing is open on the wire, and no Send is in flight: no call may wait.
  void expect_nobody_waits() {
    if (!open_.empty() || !sending_.empty()) return;
    ASSERT_EQ(idle_.size(), static_cast<std::size_t>(kUsers)) << "a call waits for nothing";
    harness_.peer().forget_sent();
    noted_ = 0;
  }
  void drain() {
    while (!open_.empty() || !sending_.empty()) {
      answer_one();
      complete_one();
      note_sent();
    }
  }

  Harness harness_{setup()};
  std::mt19937 random_{5};
  std::list<TestCall> calls_;
  std::list<TestCall*> idle_;
  std::vector<std::size_t> open_;     ///< messages without an answer
  std::vector<std::size_t> sending_;  ///< messages whose Send has not completed
  std::size_t noted_ = 0;
  std::size_t submitted_ = 0;
};

TEST_F(P05_Stalls, CreditsAndSends) {
  const std::size_t operations = nfsrdma::testing::scaled(50'000, 10'000'000);
  while (submitted_ < operations) {
    // Bursts, so that the queue is full at times and empty at others.
    const unsigned burst = any(2 * kUsers);
    for (unsigned i = 0; i < burst; ++i) {
      switch (any(3)) {
        case 0: submit_one(); break;
        case 1: answer_one(); break;
        default: complete_one(); break;
      }
      note_sent();
      ASSERT_LE(counter(*harness_.channel, "calls_in_flight"), 4U);
    }
    if (any(4) == 0) drain();
    ASSERT_NO_FATAL_FAILURE(expect_nobody_waits());
  }
  drain();
  ASSERT_NO_FATAL_FAILURE(expect_nobody_waits());
  EXPECT_EQ(harness_.observer.downs, 0);
  EXPECT_EQ(harness_.peer().corrupted_sends(), 0U);
}

}  // namespace
}  // namespace nfsrdma::test

namespace nfsrdma::client::test {
namespace {

/// Users of one slot table, which the server shrinks and grows and the recovery holds back.
class SlotModel {
 public:
  SlotModel() {
    table_.reset(kMost, kMost);
    table_.open();
  }
  Task<void> use() {
    ++waiting_;
    SlotHold slot = co_await table_.acquire(rpc::Urgency::ordinary);
    --waiting_;
    if (slot) held_.push_back(std::move(slot));
  }
  void step() {
    switch (random_() % 8) {
      case 0: table_.set_target(random_() % kMost); break;
      case 1: table_.hold(); break;
      case 2: table_.open(); break;
      case 3:
        if (random_() % 50 == 0) {
          held_.clear();
          table_.reset(1 + random_() % kMost, kMost);
          table_.open();
        }
        break;
      case 4:
      case 5:
        if (waiting_ < 64) spawn(use());
        break;
      default:
        if (!held_.empty()) {
          std::swap(held_[random_() % held_.size()], held_.back());
          held_.pop_back();
        }
        break;
    }
    reactor_.settle();
  }
  /// Some wait, and yet a slot that they may have is idle.
  bool stalled() const {
    const std::uint32_t kept_back = table_.usable() > 1 ? 1 : 0;
    return table_.is_open() && table_.waiting() > 0 &&
           table_.in_use() + kept_back < table_.usable();
  }
  void finish() {
    table_.open();
    while (waiting_ > 0) {
      held_.clear();
      reactor_.settle();
      ASSERT_FALSE(stalled());
    }
    held_.clear();
  }

 private:
  static constexpr std::uint32_t kMost = 4;
  VirtualReactor reactor_;
  SlotTable table_{reactor_};
  std::mt19937 random_{55};
  std::vector<SlotHold> held_;
  int waiting_ = 0;
};

TEST(P05_StallsOfSlots, NobodyWaitsForAnIdleOne) {
  SlotModel model;
  const std::size_t steps = nfsrdma::testing::scaled(100'000, 10'000'000);
  for (std::size_t i = 0; i < steps; ++i) {
    model.step();
    ASSERT_FALSE(model.stalled()) << "at step " << i;
  }
  ASSERT_NO_FATAL_FAILURE(model.finish());
}

}  // namespace
}  // namespace nfsrdma::client::test

namespace nfsrdma::client::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The watchdog: what the models above never find is reported if it happens all the same. That it
/// does not bark without need is asserted whenever a test with a mount ends.
class P05_Stalls_AreReported : public FakeMount {
 protected:
  void SetUp() override { start(); }
  void wait_for(Duration time) {
    Pending<Result<Attributes>> waiting(getattr(mount(), {}, handle(1)));
    reactor_.advance(time);
    server_.sends_nothing = server_.unreachable = false;
    server_.fate = nullptr;
    server_.release();
    server_.disconnect();  // what was not sent goes out on the next connection
    reactor_.advance(time + seconds(60));
    EXPECT_TRUE(waiting.done());
  }
};

TEST_F(P05_Stalls_AreReported, OnceEach) {
  for (expected_stalls_ = 1; expected_stalls_ <= 3; ++expected_stalls_) {
    server_.sends_nothing = true;
    wait_for(seconds(10));
    EXPECT_EQ(counter("stalls"), expected_stalls_);
  }
  expected_stalls_ = 3;
}

TEST_F(P05_Stalls_AreReported, WithinTwoSeconds) {
  server_.sends_nothing = true;
  wait_for(2 * StallWatch::kInterval + milliseconds(1));
  expected_stalls_ = 1;
}

TEST_F(P05_Stalls_AreReported, NotOfAServerThatTakesItsTime) {
  server_.fate = [](const Arrival&) { return Fate::hold; };
  wait_for(seconds(20));
}

TEST_F(P05_Stalls_AreReported, NotWhileThereIsNoConnection) {
  server_.unreachable = true;
  server_.disconnect();
  wait_for(seconds(20));
}

}  // namespace
}  // namespace nfsrdma::client::test
