// Where the time of each request went, in virtual time: stages, outcomes, what waits for what.
#include "client/session/trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

#include "client/compound/operation_names.h"
#include "client/requests/getattr.h"
#include "client/requests/read.h"
#include "client/requests/write.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using namespace std::chrono_literals;

class TraceTest : public FakeMount {
 protected:
  void SetUp() override {
    reactor_.advance(1h);  // zero is no time that a stage can have
    server_.on<READ4args, READ4res>([](const READ4args&, READ4res& result) {
      static constexpr std::array<std::byte, 8> kData{};
      result.resok4.data.data = kData;
    });
    server_.on<WRITE4args, WRITE4res>([](const WRITE4args& args, WRITE4res& result) {
      result.resok4.count = static_cast<count4>(args.data.data.size());
    });
    start();
    begun_ = reactor_.now();
  }

  void hold() {
    server_.fate = [](const Arrival&) { return Fate::hold; };
  }
  void release() {
    server_.fate = nullptr;
    server_.release();
    reactor_.settle();
  }
  Span last() {
    std::optional<Span> found;
    mount().trace().visit_ended(1, [&](const Span& span) { found = span; });
    EXPECT_TRUE(found);
    return found.value_or(Span{});
  }
  std::vector<std::string> waiting() {
    std::vector<std::string> lines;
    mount().trace().visit_in_flight(
        [&](Compound& compound) { lines.push_back(waiting_text(compound, reactor_.now())); });
    return lines;
  }
  const OperationTimes* times(nfs_opnum4 operation) {
    const OperationTimes* found = nullptr;
    mount().trace().visit_operations([&](nfs_opnum4 opnum, const OperationTimes& of_operation) {
      if (opnum == operation) found = &of_operation;
    });
    return found;
  }
  Task<Result<ReadData>> read_some() { return read(mount(), {}, handle(1), {}, 0, data_); }

  static Task<Result<Attributes>> getattr_twice(TraceTest* test) {
    auto first = co_await getattr(test->mount(), {}, handle(1));
    CO_TRY(first);
    auto second = co_await getattr(test->mount(), {}, handle(2));
    co_return second;
  }

  std::array<std::byte, 64> data_{};
  TimePoint begun_{0};
};

TEST_F(TraceTest, AReadHasItsStages) {
  hold();
  Pending<Result<ReadData>> reading(read_some());
  reactor_.advance(5ms);
  release();
  ASSERT_TRUE(reading.done());
  const Span span = last();
  EXPECT_EQ(span.operation, OP_READ);
  EXPECT_EQ(span.xid, arrivals().at(0).xid);
  EXPECT_EQ(span.slot, arrivals().at(0).sequence->sa_slotid);
  EXPECT_EQ(span.origin, kNoOrigin);
  EXPECT_EQ(span.sends, 1U);
  EXPECT_EQ(span.begun, begun_);
  EXPECT_EQ(span.slot_taken, begun_);
  EXPECT_EQ(span.call.submitted, begun_);
  EXPECT_EQ(span.call.sent, begun_);
  EXPECT_EQ(span.call.replied, begun_ + 5ms);
  EXPECT_EQ(span.call.completed, begun_ + 5ms);
  EXPECT_EQ(span.ended, begun_ + 5ms);
  EXPECT_FALSE(span.failed());
  EXPECT_EQ(span.bytes_sent, arrivals().at(0).bytes.size());
  EXPECT_GT(span.bytes_received, 8U);
  EXPECT_NE(to_text(span).find("server 5000.0 us"), std::string::npos) << to_text(span);
}

// With them the log leads to the request in a capture and at the server.
TEST_F(TraceTest, AnErrorNamesItsRequest) {
  server_.on<READ4args, READ4res>(
      [](const READ4args&, READ4res& result) { result.status = NFS4ERR_IO; });
  auto refused = run(read_some());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().xid, last().xid);
  EXPECT_EQ(refused.error().slot, last().slot);
  EXPECT_NE(last().xid, 0U);
  EXPECT_EQ(refused.error().request_text(),
            fmt::format(" (XID {:#010x}, slot {})", last().xid, last().slot));
}

// EXCHANGE_ID has none: its queue began with it, not with the clock.
// What the probe rpc_stats_latency has: no time less than none.
TEST(SpanTimes, AStageThatWasNotReachedTookNoTime) {
  Span span;
  span.begun = 5s;
  EXPECT_EQ(span.queued(), Duration{0});
  EXPECT_EQ(span.at_server(), Duration{0});
  span.call.sent = 7s;
  EXPECT_EQ(span.queued(), 2s);
  EXPECT_EQ(span.at_server(), Duration{0});
  span.call.replied = 10s;
  EXPECT_EQ(span.at_server(), 3s);
}

TEST(SpanText, ACallWithoutASlot) {
  Span span;
  span.begun = TimePoint{23s};
  span.call.sent = span.begun + 2us;
  span.call.replied = span.ended = span.begun + 5us;
  const std::string text = to_text(span);
  EXPECT_NE(text.find(": slot -, queue 2.0 us, server 3.0 us, all 5.0 us;"), std::string::npos)
      << text;
}

TEST_F(TraceTest, AWriteCountsItsPayload) {
  ASSERT_TRUE(run(write(mount(), {}, handle(1), {}, 0, data_, UNSTABLE4)));
  EXPECT_EQ(last().operation, OP_WRITE);
  EXPECT_EQ(last().bytes_sent, arrivals().at(0).bytes.size() + data_.size());
  EXPECT_EQ(times(OP_WRITE)->bytes_sent.value(), last().bytes_sent);
}

// One request, one XID, and the stages of the connection that got the answer.
TEST_F(TraceTest, ACallThatIsSentAgain) {
  int losses = 0;
  server_.fate = [&](const Arrival& arrival) {
    return arrival.has(OP_READ) && losses++ == 0 ? Fate::disconnect_after : Fate::answer;
  };
  server_.unreachable = true;
  Pending<Result<ReadData>> reading(read_some());
  reactor_.settle();
  reactor_.advance(1s);
  EXPECT_EQ(last().operation, OP_GETATTR) << "of the mount: the READ has not ended";
  ASSERT_EQ(waiting().size(), 1U);
  EXPECT_NE(waiting()[0].find("began 1.000 s ago, waits for a connection"), std::string::npos)
      << waiting()[0];
  server_.unreachable = false;
  reactor_.advance(1min);
  ASSERT_TRUE(reading.done());
  ASSERT_TRUE(reading.value());
  std::optional<Span> read;
  mount().trace().visit_ended(Trace::kSpans, [&](const Span& span) {
    if (span.operation == OP_READ) read = span;
  });
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sends, 2U);
  EXPECT_EQ(read->begun, begun_);
  EXPECT_EQ(read->slot_taken, begun_);
  EXPECT_GE(read->call.submitted, begun_ + 1s);
  EXPECT_FALSE(read->failed());
  EXPECT_EQ(times(OP_READ)->sends.value(), 2U);
  EXPECT_EQ(times(OP_READ)->requests.value(), 1U);
  EXPECT_LT(times(OP_READ)->round_trip.longest(), 1s) << "of the last time";
  EXPECT_GE(times(OP_READ)->execute.longest(), 1s);
}

TEST_F(TraceTest, ACallThatWaitsForASlot) {
  hold();
  std::vector<std::unique_ptr<Pending<Result<ReadData>>>> many;
  for (std::uint32_t i = 0; i < kSlots; ++i) {  // one slot is kept back
    many.push_back(std::make_unique<Pending<Result<ReadData>>>(read_some()));
  }
  reactor_.advance(2s);
  const auto lines = waiting();
  ASSERT_EQ(lines.size(), kSlots);
  EXPECT_NE(lines.front().find("waits for the server's answer"), std::string::npos);
  EXPECT_NE(lines.back().find("waits for a session slot"), std::string::npos) << lines.back();
  EXPECT_EQ(lines.back().find(" slot 0"), std::string::npos) << "it has none";
  release();
  reactor_.settle();
  EXPECT_TRUE(waiting().empty());
  const Span span = last();
  EXPECT_EQ(span.begun, begun_);
  EXPECT_EQ(span.slot_taken, begun_ + 2s);
  EXPECT_EQ(times(OP_READ)->queue.longest(), 2s);
}

// The connection has taken it, and its turn has not come.
TEST_F(TraceTest, ACallThatWaitsForACredit) {
  server_.sends_nothing = true;
  expected_stalls_ = 1;
  Pending<Result<ReadData>> reading(read_some());
  reactor_.advance(3s);
  ASSERT_EQ(waiting().size(), 1U);
  EXPECT_NE(waiting()[0].find("waits for a credit"), std::string::npos) << waiting()[0];
  server_.sends_nothing = false;
  server_.disconnect();
  reactor_.advance(1min);
  ASSERT_TRUE(reading.done());
  EXPECT_TRUE(reading.value());
}

// Its pauses are its own time, and not the server's.
TEST_F(TraceTest, ACallThatIsPutOff) {
  server_.fail(OP_GETATTR, NFS4ERR_DELAY, 2);
  Pending<Result<Attributes>> asking(getattr(mount(), {}, handle(1)));
  reactor_.advance(50ms);
  ASSERT_EQ(waiting().size(), 1U);
  EXPECT_NE(waiting()[0].find("waits for the end of a pause"), std::string::npos) << waiting()[0];
  reactor_.advance(1s);
  ASSERT_TRUE(asking.done());
  const Span span = last();
  EXPECT_EQ(span.delays, 2U);
  EXPECT_EQ(span.sends, 3U);
  EXPECT_EQ(span.begun, begun_);
  EXPECT_EQ(span.call.sent, begun_ + 300ms) << "the last time: pauses of 0.1 and 0.2 s";
  EXPECT_EQ(span.ended, begun_ + 300ms);
  EXPECT_EQ(span.xid, arrivals().back().xid);
  EXPECT_FALSE(span.failed());
  EXPECT_EQ(times(OP_GETATTR)->delays.value(), 2U);
  EXPECT_EQ(times(OP_GETATTR)->errors.value(), 0U);
}

TEST_F(TraceTest, FailuresAreCountedByStatus) {
  server_.fail(OP_GETATTR, NFS4ERR_STALE, 2);
  EXPECT_FALSE(run(getattr(mount(), {}, handle(1))));
  EXPECT_FALSE(run(getattr(mount(), {}, handle(1))));
  server_.fail(OP_GETATTR, NFS4ERR_IO, 1);
  EXPECT_FALSE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(outcome_of(last().layer, last().code), "NFS4ERR_IO");
  EXPECT_EQ(counter("nfs_GETATTR_errors"), 3U);
  EXPECT_EQ(counter("nfs_GETATTR_errors_NFS4ERR_STALE"), 2U);
  EXPECT_EQ(counter("nfs_GETATTR_errors_NFS4ERR_IO"), 1U);
}

// More kinds of failures than there is room for are counted all the same.
TEST_F(TraceTest, FailuresOfManyKindsAreBounded) {
  OperationTimes of_operation;
  Span span;
  constexpr int kKinds = 100;
  for (span.code = 1; span.code <= kKinds; ++span.code) of_operation.add(span);
  EXPECT_EQ(of_operation.errors.value(), static_cast<std::uint64_t>(kKinds));
  std::uint64_t kinds = 0;
  of_operation.visit_failures([&](Layer, int, std::uint64_t count) { kinds += count; });
  EXPECT_GT(kinds, 5U);
  EXPECT_LT(kinds, 20U);
}

TEST_F(TraceTest, CountersHavePercentiles) {
  hold();
  for (int i = 0; i < 4; ++i) {
    Pending<Result<ReadData>> reading(read_some());
    reactor_.advance(1ms);
    server_.release();
    reactor_.settle();
    ASSERT_TRUE(reading.done());
  }
  EXPECT_EQ(counter("nfs_READ_requests"), 4U);
  EXPECT_EQ(counter("nfs_READ_rtt_us_sum"), 4000U);
  EXPECT_EQ(counter("nfs_READ_rtt_us_mean"), 1000U);
  EXPECT_EQ(counter("nfs_READ_rtt_us_max"), 1000U);
  EXPECT_EQ(counter("nfs_READ_rtt_us_p99"), 1000U);
  EXPECT_EQ(counter("nfs_READ_queue_us_p50"), 0U);
  EXPECT_EQ(counter("nfs_READ_execute_us_p50"), 1000U);
}

// Every request of one origin has it, also behind what was waited for; the session's own have none.
TEST_F(TraceTest, RequestsOfOneOriginAreToldFromThoseWithNone) {
  server_.fail(OP_GETATTR, NFS4ERR_DELAY, 1);
  std::optional<Pending<Result<Attributes>>> asking;
  {
    const OriginScope scope(77);
    asking.emplace(getattr_twice(this));
  }
  reactor_.advance(1s);
  ASSERT_TRUE(asking->done());
  std::vector<Origin> origins;
  mount().trace().visit_ended(2, [&](const Span& span) { origins.push_back(span.origin); });
  EXPECT_EQ(origins, (std::vector<Origin>{77, 77}));
  EXPECT_NE(to_text(last()).find("for request 77"), std::string::npos) << to_text(last());
  reactor_.advance(80s);
  EXPECT_EQ(last().operation, OP_SEQUENCE) << "the lease was renewed";
  EXPECT_EQ(last().origin, kNoOrigin);
}

// What makes the session is traced, too.
TEST_F(TraceTest, TheMountsOwnRequestsAreThere) {
  std::vector<nfs_opnum4> operations;
  mount().trace().visit_ended(Trace::kSpans,
                              [&](const Span& span) { operations.push_back(span.operation); });
  ASSERT_GE(operations.size(), 4U);
  operations.resize(4);
  EXPECT_EQ(operations,
            (std::vector{OP_EXCHANGE_ID, OP_CREATE_SESSION, OP_RECLAIM_COMPLETE, OP_GETATTR}));
}

TEST_F(TraceTest, ARequestIsNamedAfterWhatItIsAbout) {
  EXPECT_EQ(main_operation({}), OP_ILLEGAL);
  const auto of = [](std::vector<nfs_opnum4> asked) { return main_operation(asked); };
  EXPECT_EQ(of({OP_SEQUENCE}), OP_SEQUENCE);
  EXPECT_EQ(of({OP_SEQUENCE, OP_PUTFH, OP_GETATTR}), OP_GETATTR);
  EXPECT_EQ(of({OP_SEQUENCE, OP_PUTFH, OP_GETATTR, OP_WRITE, OP_GETATTR}), OP_WRITE);
  EXPECT_EQ(of({OP_SEQUENCE, OP_PUTFH, OP_SAVEFH, OP_PUTFH, OP_RENAME}), OP_RENAME);
  EXPECT_EQ(of({OP_SEQUENCE, OP_PUTFH, OP_OPEN, OP_GETFH, OP_ACCESS}), OP_OPEN);
  EXPECT_EQ(of({OP_SEQUENCE, OP_PUTFH, OP_LOOKUP, OP_GETFH, OP_GETATTR}), OP_LOOKUP);
  EXPECT_EQ(of({OP_SEQUENCE, OP_PUTFH, OP_LOOKUP, OP_VERIFY, OP_PUTFH, OP_OPEN}), OP_OPEN);
}

}  // namespace
}  // namespace nfsrdma::client::test
