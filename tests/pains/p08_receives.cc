// P8: a message of the server always finds a Receive, however long the client takes to post used
// ones again; a server that sends more than it was granted is named and loses its connection.
#include <gtest/gtest.h>

#include <list>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kCredits = 16;
constexpr std::uint32_t kCallbacks = 4;

class P08_Receives : public ::testing::Test {
 protected:
  static Harness::Setup setup() {
    Harness::Setup setup;
    setup.options.credits = kCredits;
    setup.options.backward_credits = kCallbacks;
    return setup;
  }
  void SetUp() override { harness_.connect(); }
  Bytes callback(std::uint32_t xid) {
    rdma::Header header;
    header.rdma_xid = xid;
    header.rdma_credit = kCallbacks;
    header.proc = rdma::RDMA_MSG;
    return encode(header, rpc_call(xid));
  }

  Harness harness_{setup()};
};

// At full load every reply is looked at for 50 ms before its buffer is given back. At each Send
// there are Receives for all open calls and all callbacks; the server, which sends as much as it
// may, never misses one.
TEST_F(P08_Receives, LateRepostsUnderFullLoad) {
  std::list<TestCall> calls;
  std::uint32_t xid = 1;
  std::size_t answered = 0;
  for (int round = 0; round < 200; ++round) {
    for (std::uint32_t i = 0; i < 2 * kCredits; ++i) calls.emplace_back(harness_, xid++).submit();
    harness_.settle();
    for (; answered < harness_.peer().sent_count(); ++answered) {
      const std::uint64_t open = counter(*harness_.channel, "calls_in_flight");
      ASSERT_GE(harness_.peer().receives(), open + kCallbacks);
      ASSERT_GE(harness_.peer().sent(answered).receives_posted, 1U + kCallbacks);
      harness_.answer(answered, kCredits);
      ASSERT_EQ(harness_.observer.downs, 0) << "a message has met no Receive";
    }
    harness_.reactor.advance(milliseconds(50));
    calls.remove_if([](const TestCall& call) { return call.done(); });
  }
  for (; answered < harness_.peer().sent_count(); ++answered) harness_.answer(answered, kCredits);
  for (const TestCall& call : calls) EXPECT_TRUE(call.ok());
  EXPECT_EQ(harness_.observer.downs, 0);
}

// As many callbacks as were granted, with all calls open: each has its Receive.
TEST_F(P08_Receives, CallbacksFindTheirsBesideFullLoad) {
  std::list<TestCall> calls;
  TestCall first(harness_, 1);
  first.submit();
  harness_.answer(0, kCredits);
  std::uint32_t answered = 0;
  for (std::uint32_t i = 0; i < 2 * kCredits; ++i) {
    TestCall& call = calls.emplace_back(harness_, 100 + i);
    call.on_done = [&answered, &call] {
      answered += call.ok() ? 1 : 0;
      call.call.reply = fail(Error{});  // gives its buffer back
    };
    call.submit();
  }
  std::vector<rpc::BackwardCall*> pending;
  harness_.observer.on_callback = [&](rpc::BackwardCall& call) { pending.push_back(&call); };
  for (std::uint32_t i = 0; i < kCallbacks; ++i) harness_.deliver(callback(0x1000 + i));
  EXPECT_EQ(pending.size(), kCallbacks);
  for (std::size_t i = 1; i < harness_.peer().sent_count(); ++i) harness_.answer(i, kCredits);
  for (rpc::BackwardCall* call : pending) call->answer(rpc::AcceptStat::success);
  EXPECT_EQ(answered, 2 * kCredits);
  EXPECT_EQ(counter(*harness_.channel, "backward_overruns"), 0U);
  EXPECT_EQ(harness_.observer.downs, 0);
}

TEST_F(P08_Receives, AServerBeyondItsGrantIsNamedAndLosesTheConnection) {
  std::vector<rpc::BackwardCall*> pending;
  harness_.observer.on_callback = [&](rpc::BackwardCall& call) { pending.push_back(&call); };
  for (std::uint32_t i = 0; i < 100 && harness_.observer.closings == 0; ++i) {
    harness_.deliver(callback(0x1000 + i));
  }
  EXPECT_EQ(harness_.observer.closings, 1);
  EXPECT_LE(pending.size(), 2 * kCallbacks + 1);
  EXPECT_GE(counter(*harness_.channel, "backward_overruns"), 1U);
  EXPECT_LE(counter(*harness_.channel, "backward_overruns"), kCallbacks + 1U) << "a few log lines";
  for (rpc::BackwardCall* call : pending) call->answer(rpc::AcceptStat::success);
}

}  // namespace
}  // namespace nfsrdma::test
