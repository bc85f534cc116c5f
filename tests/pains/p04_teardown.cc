// P4: connecting and ending a connection are bounded from any state, and leave nothing behind.
#include <gtest/gtest.h>

#include "tests/transport/rdma/random_connections.h"
#include "transport/rpc/connection_keeper.h"

namespace nfsrdma::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// One connection in ten cannot post a Receive. No timer is needed for any of them to end.
TEST(P04_Teardown, RandomDisconnectsEndAtOnce) {
  Harness harness;
  RandomConnections connections(harness, 4);
  connections.failing_receives = 10;
  constexpr std::size_t kConnections = 10'000;
  const TimePoint begun = harness.reactor.now();
  for (std::size_t i = 0; i < kConnections; ++i) {
    ASSERT_NO_FATAL_FAILURE(connections.run_one()) << i;
  }
  EXPECT_EQ(harness.reactor.now(), begun);
}

/// A session layer without a session.
class Nobody final : public rpc::ChannelBinder, public rpc::BackwardCallHandler {
 public:
  Task<Result<void>> on_new_channel(rpc::Channel&) override { co_return Result<void>{}; }
  void on_backward_call(rpc::BackwardCall& call) override { call.answer(rpc::AcceptStat::success); }
  void on_channel_lost(const Error&) override {}
  Duration longest_pause() const override { return std::chrono::hours(1); }
};

Task<void> close(rpc::ConnectionKeeper* keeper, bool* closed) {
  co_await keeper->close();
  *closed = true;
}

Task<void> start(rpc::ConnectionKeeper* keeper, int* outcome) {
  auto started = co_await keeper->start();
  *outcome = started ? 1 : -1;
}

// Whatever the keeper is doing when it is told to end, it has ended in the same moment.
TEST(P04_Teardown, EndsFromAnyState) {
  for (const auto& [establishes, advance] :
       {std::pair{true, milliseconds(0)}, std::pair{false, milliseconds(0)},
        std::pair{false, milliseconds(1)}, std::pair{false, milliseconds(10'000)}}) {
    Harness harness;
    harness.fabric.establishes = establishes;
    Nobody binder;
    rpc::ConnectionKeeper keeper(harness.reactor, *harness.factory, binder, binder);
    int outcome = 0;
    spawn(start(&keeper, &outcome));
    harness.settle();
    harness.reactor.advance(advance);
    const TimePoint begun = harness.reactor.now();
    bool closed = false;
    spawn(close(&keeper, &closed));
    harness.settle();
    EXPECT_TRUE(closed);
    EXPECT_NE(outcome, 0);
    EXPECT_EQ(harness.reactor.now(), begun);
  }
}

}  // namespace
}  // namespace nfsrdma::test
