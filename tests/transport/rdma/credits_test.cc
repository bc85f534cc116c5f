// Credits: how many Calls may be open, and the Receives behind them (RFC 8166 section 3.3.1).
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

class Credits : public testing::Test {
 protected:
  Credits() : harness_(setup()) {}
  static Harness::Setup setup() {
    Harness::Setup setup;
    setup.options.credits = 8;
    setup.options.backward_credits = 4;
    return setup;
  }
  void SetUp() override { harness_.connect(); }

  TestCall& submit(rpc::Urgency urgency = rpc::Urgency::ordinary) {
    TestCall& call = calls_.emplace_back(harness_, next_xid_++);
    call.call.urgency = urgency;
    call.on_done = [this, &call] {
      if (call.ok()) ++good_replies_;
      if (!keep_replies_) call.call.reply = fail(Error{});
    };
    call.submit();
    return call;
  }
  void submit_many(int count) {
    for (int i = 0; i < count; ++i) submit();
  }
  std::size_t sent() { return harness_.peer().sent_count(); }
  /// A first exchange, after which the grant is known.
  void open_with(std::uint32_t grant) {
    submit();
    harness_.answer(0, grant);
    EXPECT_EQ(good_replies_, 1u);
  }
  void answer_all(std::uint32_t grant) {
    for (; answered_ < sent(); ++answered_) harness_.answer(answered_, grant);
  }

  Harness harness_;
  std::deque<TestCall> calls_;
  std::uint32_t next_xid_ = 1;
  std::size_t answered_ = 0;
  std::size_t good_replies_ = 0;
  bool keep_replies_ = false;
};

// V1-3.3.3-1, V1-3.3.1-4, V1-3.3.3-5: one credit until the first good reply, however many Receives
// the server has.
TEST_F(Credits, OneCallUntilTheFirstReply) {
  submit_many(3);
  EXPECT_EQ(sent(), 1u);
  harness_.answer(0, 32);
  EXPECT_EQ(sent(), 3u);
  harness_.answer(1);
  harness_.answer(2);
}

// V1-3.3.1-2: every Call, the first one included, asks for the same non-zero number.
TEST_F(Credits, EveryCallCarriesTheRequest) {
  open_with(32);
  submit_many(3);
  for (std::size_t i = 0; i < sent(); ++i) {
    EXPECT_EQ(parse(harness_.peer().sent(i).bytes)->header.rdma_credit, 8u);
  }
  answer_all(32);
}

// V1-3.3.1-6, V1-3.3.1-4, V1-8.1.4-3, D05-4.1-1, E-8881-7, F-23: never more than min(requested,
// granted) open; ordinary Calls leave one of them for reserved ones.
TEST_F(Credits, NeverMoreThanAskedFor) {
  open_with(32);
  submit_many(20);
  EXPECT_EQ(sent(), 1u + 7u);
  EXPECT_EQ(counter(*harness_.channel, "credit_limit"), 8u);
  submit(rpc::Urgency::reserved);
  submit(rpc::Urgency::reserved);
  EXPECT_EQ(sent(), 1u + 8u);
  answered_ = 1;
  answer_all(32);
  EXPECT_EQ(good_replies_, calls_.size());
  EXPECT_EQ(sent(), 23u);
}

// What a call waited for is told apart: its credit, and the server.
TEST_F(Credits, TheWaitForACreditShowsInTheTimes) {
  using namespace std::chrono_literals;
  const TimePoint begun = harness_.reactor.now();
  TestCall& first = submit();
  TestCall& second = submit();
  EXPECT_EQ(second.call.times.sent, TimePoint{0});
  harness_.reactor.advance(3s);
  harness_.answer(0, 32);
  EXPECT_EQ(first.call.times.sent, begun);
  EXPECT_EQ(first.call.times.replied, begun + 3s);
  EXPECT_EQ(first.call.times.completed, begun + 3s);
  harness_.reactor.advance(2s);
  harness_.answer(1, 32);
  EXPECT_EQ(second.call.times.sent, begun + 3s);
  EXPECT_EQ(second.call.times.replied, begun + 5s);
}

// It may wait for the credit of a call that the provider keeps.
TEST_F(Credits, ACallWithoutACreditHurriesWhatIsKept) {
  TestCall& kept = calls_.emplace_back(harness_, next_xid_++);
  kept.call.pace = net::Pace::unhurried;
  kept.submit();
  ASSERT_EQ(sent(), 1u);
  EXPECT_EQ(harness_.peer().sent(0).pace, net::Pace::unhurried);
  EXPECT_EQ(harness_.peer().hurries(), 0);
  submit();
  EXPECT_EQ(sent(), 1u);
  EXPECT_EQ(harness_.peer().hurries(), 1);
  harness_.answer(0, 32);
  harness_.answer(1, 32);
}

// E-8267-15, E-8881-7: the credit kept back lets a reserved Call pass all that wait, in order.
TEST_F(Credits, ReservedCallsGoFirst) {
  open_with(4);
  submit_many(6);
  EXPECT_EQ(sent(), 1u + 3u);
  TestCall& first = submit(rpc::Urgency::reserved);
  TestCall& second = submit(rpc::Urgency::reserved);
  ASSERT_EQ(sent(), 1u + 4u);
  EXPECT_EQ(parse(harness_.peer().sent(4).bytes)->header.rdma_xid, first.call.xid);
  harness_.answer(1, 4);
  ASSERT_EQ(sent(), 6u);
  EXPECT_EQ(parse(harness_.peer().sent(5).bytes)->header.rdma_xid, second.call.xid);
  answered_ = 2;
  answer_all(4);
}

// V1-3.3.1-1, V1-3.3.1-8, V1-3.3.1-7: a lower grant aborts nothing; no Call leaves until fewer are
// open than it allows. Numbers are levels, not increments.
TEST_F(Credits, LoweredGrantLetsOpenCallsFinish) {
  open_with(32);
  submit_many(12);
  EXPECT_EQ(sent(), 8u);
  for (std::size_t i = 1; i <= 5; ++i) {
    harness_.answer(i, 2);
    EXPECT_EQ(sent(), 8u) << "seven were open, and two are allowed, one of them kept back";
  }
  harness_.answer(6, 2);
  EXPECT_EQ(sent(), 8u);
  harness_.answer(7, 2);
  EXPECT_EQ(sent(), 9u);
  answered_ = 8;
  answer_all(2);
  EXPECT_EQ(good_replies_, calls_.size());
}

// V1-3.3.1-7: a constant grant keeps the level over many replies.
TEST_F(Credits, EqualGrantsAreNoIncrements) {
  open_with(4);
  for (int i = 0; i < 100; ++i) {
    submit();
    answered_ = static_cast<std::size_t>(i) + 1;
    answer_all(4);
  }
  EXPECT_EQ(counter(*harness_.channel, "credit_limit"), 4u);
  EXPECT_EQ(counter(*harness_.channel, "grants"), 1u);
}

// V1-3.3.1-5, D05-3.3-1, F-7: a grant of zero is a slip of the server: one credit stays.
TEST_F(Credits, ZeroGrantCountsAsOne) {
  open_with(0);
  submit_many(2);
  EXPECT_EQ(sent(), 2u);
  EXPECT_EQ(counter(*harness_.channel, "zero_grants"), 1u);
  EXPECT_EQ(counter(*harness_.channel, "credit_limit"), 1u);
  harness_.answer(1, 0);
  EXPECT_EQ(sent(), 3u);
  harness_.answer(2, 0);
}

// V1-3.3.1-6: the largest possible grant is clamped to what was asked for.
TEST_F(Credits, HugeGrantIsClamped) {
  open_with(0xFFFFFFFF);
  EXPECT_EQ(counter(*harness_.channel, "credit_limit"), 8u);
  submit_many(20);
  EXPECT_EQ(sent(), 8u);
  answered_ = 1;
  answer_all(0xFFFFFFFF);
}

// V1-3.3.1-1 (B4-4.3.1-1), V1-3.3.1-10, V1-2.3.2-3, BD-8, E-8167-4: before every Send the Receives
// of all open Calls and of the backward grant are posted.
TEST_F(Credits, ReceivesArePostedBeforeEverySend) {
  open_with(32);
  EXPECT_EQ(harness_.peer().sent(0).receives_posted, 1u + 4u);
  submit_many(7);
  for (std::size_t i = 1; i < sent(); ++i) {
    EXPECT_GE(harness_.peer().sent(i).receives_posted, i + 4u);
  }
  answered_ = 1;
  answer_all(32);
}

// BD-8, V1-3.3.3-3: the backward grant is backed before the connection is announced; buffers have
// at least 1024 bytes.
TEST_F(Credits, BackwardReceivesArePostedFirst) { EXPECT_EQ(harness_.peer().receives(), 4u); }

// V1-3.3.1-10: replies that someone still reads take buffers away; Calls wait for them, and the
// Receives of the backward direction stay posted.
TEST_F(Credits, CallsWaitForReceiveBuffers) {
  keep_replies_ = true;
  open_with(32);
  const std::size_t buffers = 2 * 8 + 2 * 4;
  answered_ = 1;
  while (counter(*harness_.channel, "queue_waits") == 0 && calls_.size() < buffers) {
    submit();
    answer_all(32);
  }
  EXPECT_EQ(counter(*harness_.channel, "queue_waits"), 1u);
  EXPECT_EQ(counter(*harness_.channel, "messages_held"), buffers - 4 - 4);
  EXPECT_GE(harness_.peer().receives(), 4u);
  const std::size_t before = sent();
  calls_.front().call.reply = fail(Error{});
  harness_.settle();
  EXPECT_EQ(sent(), before + 1);
  answer_all(32);
  EXPECT_EQ(good_replies_, calls_.size());
}

// V1-3.3.1-11: with nothing pending only the backward grant is posted.
TEST_F(Credits, IdleConnectionPostsNoMoreThanItNeeds) {
  open_with(32);
  EXPECT_LE(harness_.peer().receives(), 5u);
}

// V1-3.3.1-13, V1-3.3.1-1: an RDMA_ERROR gives the credit back and moves no level (BD-6, E-8167-2).
TEST_F(Credits, ErrorGivesItsCreditBackAndGrantsNothing) {
  submit_many(2);
  rdma::Header& header = harness_.reply_header(0, 5);
  header.proc = rdma::RDMA_ERROR;
  harness_.deliver(encode(header));
  EXPECT_TRUE(calls_[0].done());
  EXPECT_EQ(counter(*harness_.channel, "credit_limit"), 1u);
  EXPECT_EQ(sent(), 2u);
  harness_.answer(1);
}

// P5, V1-3.3.1-4, V1-3.3.1-8: whatever the server grants, never more calls are open than the lowest
// of the levels allows, none is forgotten, and none waits while it could go.
TEST_F(Credits, EveryCallGetsItsTurn) {
  constexpr int kRounds = 50;
  constexpr std::size_t kCallsInRound = 100;
  std::mt19937 random(20260102);
  std::size_t before_round = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t done = 0; done < kCallsInRound; ++done) {
      while (calls_.size() < kCallsInRound && random() % 3 != 0) {
        submit(random() % 8 == 0 ? rpc::Urgency::reserved : rpc::Urgency::ordinary);
      }
      if (sent() == answered_) submit();
      ASSERT_GT(sent(), answered_) << "a call waits and none is open";
      ASSERT_LE(sent() - answered_, 8u);
      harness_.answer(answered_++, random() % 5);
    }
    answer_all(random() % 5);
    ASSERT_EQ(good_replies_, before_round + calls_.size());
    before_round = good_replies_;
    calls_.clear();
  }
  EXPECT_EQ(counter(*harness_.channel, "calls_open"), 0u);
}

// First in, first out among ordinary Calls.
TEST_F(Credits, OrdinaryCallsKeepTheirOrder) {
  submit_many(6);
  harness_.answer(0, 2);
  for (std::size_t i = 1; i < 6; ++i) {
    EXPECT_EQ(parse(harness_.peer().sent(i).bytes)->header.rdma_xid, i + 1);
    harness_.answer(i, 2);
  }
}

}  // namespace
}  // namespace nfsrdma::test
