// P6: the reply comes before the Send has completed. The memory of the Send stays what it was until
// then, and its call waits.
#include <gtest/gtest.h>

#include <list>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

using std::chrono::milliseconds;

// Every Send completes 100 ms after its reply, with every credit in use; the next calls write other
// bytes into the memory as soon as it is theirs.
TEST(P06_EarlyReplies, SendsKeepTheirMemoryUntilTheyComplete) {
  constexpr std::size_t kCalls = 60;
  Harness harness;
  harness.fabric.sends_complete = false;
  harness.connect();
  std::uint32_t xid = 1;
  constexpr int kRounds = 1000;
  for (int round = 0; round < kRounds; ++round) {
    std::list<TestCall> calls;
    for (std::size_t i = 0; i < kCalls; ++i) {
      // Of different lengths, so that pieces of one lie where another's end was.
      calls.emplace_back(harness, xid++, kRpcCallHeader + 4 * (i * 7 % 500)).submit();
    }
    harness.settle();
    for (std::size_t i = 0; i < harness.peer().sent_count(); ++i) {
      harness.answer(i, 64);
    }
    ASSERT_EQ(harness.peer().sent_count(), kCalls);
    for (const TestCall& call : calls) ASSERT_FALSE(call.done()) << "its Send is in flight";
    harness.reactor.advance(milliseconds(100));
    for (std::size_t i = 0; i < kCalls; ++i) harness.peer().complete_send(i);
    harness.settle();
    for (const TestCall& call : calls) ASSERT_TRUE(call.ok());
    harness.peer().forget_sent();
  }
  EXPECT_EQ(harness.peer().corrupted_sends(), 0U);
  EXPECT_EQ(harness.observer.downs, 0);
}

}  // namespace
}  // namespace nfsrdma::test
