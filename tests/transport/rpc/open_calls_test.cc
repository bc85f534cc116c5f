// Calls that wait for their turn, and those that are open: which one a reply belongs to.
#include <gtest/gtest.h>

#include <array>

#include "transport/rpc/call_queue.h"
#include "transport/rpc/xid_table.h"

namespace nfsrdma::rpc {
namespace {

struct Context : CallContext {};

/// As many as are asked for.
struct Credits {
  std::size_t open = 0;
  std::size_t in_flight() const { return open; }
  bool may_send(Urgency) const { return true; }
};

TEST(XidTableTest, CallsOfOneBucketAreKeptApart) {
  XidTable table(3);  // four buckets
  std::array<Call, 3> calls{Call(Buffer()), Call(Buffer()), Call(Buffer())};
  std::array<Context, 3> contexts;
  for (std::uint32_t i = 0; i < 3; ++i) {
    calls[i].xid = 1 + 4 * i;
    contexts[i].call = &calls[i];
    table.add(contexts[i]);
  }
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(table.find(1 + 4 * i), &contexts[i]);
  EXPECT_FALSE(table.find(13));
  table.remove(contexts[1]);
  EXPECT_EQ(table.find(1), &contexts[0]);
  EXPECT_FALSE(table.find(5));
  EXPECT_EQ(table.find(9), &contexts[2]);
  table.remove(contexts[2]);
  EXPECT_EQ(table.find(1), &contexts[0]);
  table.remove(contexts[0]);
  EXPECT_FALSE(table.find(1));
}

// A second loss is certainly its doing then.
TEST(CallQueueTest, ACallThatMayHaveEndedAConnectionGoesAlone) {
  CallQueue queue;
  Call isolated{Buffer()};
  isolated.losses.blame(1);
  queue.push(isolated);
  EXPECT_FALSE(queue.next(Credits{1}, /*isolated_open=*/false)) << "another is open";
  EXPECT_EQ(queue.next(Credits{0}, /*isolated_open=*/false), &isolated);
  queue.remove(isolated);
  Call suspect{Buffer()};
  suspect.urgency = Urgency::reserved;
  suspect.losses.blame(1);
  queue.push(suspect);
  EXPECT_FALSE(queue.next(Credits{1}, /*isolated_open=*/true)) << "another would be blamed";
  EXPECT_EQ(queue.next(Credits{0}, /*isolated_open=*/false), &suspect);
  queue.remove(suspect);
  Call other{Buffer()};
  queue.push(other);
  EXPECT_FALSE(queue.next(Credits{1}, /*isolated_open=*/true));
  Call renewal{Buffer()};
  renewal.urgency = Urgency::reserved;
  queue.push(renewal);
  EXPECT_EQ(queue.next(Credits{1}, /*isolated_open=*/true), &renewal);
  queue.remove(renewal);
  EXPECT_EQ(queue.next(Credits{1}, /*isolated_open=*/false), &other);
  queue.remove(other);
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace nfsrdma::rpc
