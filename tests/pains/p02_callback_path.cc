// P2: a server that goes on saying that its callbacks do not arrive costs a few binds, not the
// mount; and a connection is bound once.
#include "client/requests/getattr.h"
#include "tests/pains/crowd.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::milliseconds;
using std::chrono::minutes;

class P02_CallbackPathDown : public FakeMount {
 protected:
  std::vector<TimePoint> binds() const {
    std::vector<TimePoint> times;
    for (const Arrival& arrival : server_.arrivals_of(OP_BIND_CONN_TO_SESSION)) {
      times.push_back(arrival.at);
    }
    return times;
  }
};

// Over ten minutes with ten requests a second: three binds in any minute at most, then the other
// means, each once; fewer than one request in twenty waits for any of it.
TEST_F(P02_CallbackPathDown, ThreeBindsAMinuteAndNoRequestWaits) {
  start();
  server_.status_flags = SEQ4_STATUS_CB_PATH_DOWN;
  constexpr int kRequests = 6000;
  int delayed = 0;
  for (int i = 0; i < kRequests; ++i) {
    const TimePoint asked = reactor_.now();
    ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
    if (reactor_.now() > asked) ++delayed;
    reactor_.advance(milliseconds(100));
  }
  EXPECT_LT(delayed, kRequests / 20);
  const auto times = binds();
  ASSERT_GE(times.size(), 3U);
  for (std::size_t i = 3; i < times.size(); ++i) {
    EXPECT_GE(times[i] - times[i - 3], minutes(1)) << "the bind after number " << i;
  }
  EXPECT_EQ(times.size(), 4U) << "three, and one for the new connection";
  EXPECT_EQ(server_.executions_of(OP_CREATE_SESSION), 2U);
}

// As often as the flag comes back, the steps begin again, no faster.
TEST_F(P02_CallbackPathDown, AFlagThatComesAndGoesIsNoFasterLoop) {
  start();
  for (int i = 0; i < 2000; ++i) {
    server_.status_flags = i % 2 == 0 ? SEQ4_STATUS_CB_PATH_DOWN : 0;
    ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
    reactor_.advance(milliseconds(100));
  }
  const auto times = binds();
  for (std::size_t i = 3; i < times.size(); ++i) {
    ASSERT_GE(times[i] - times[i - 3], minutes(1)) << "the bind after number " << i;
  }
}

// Eight connections, one after the other, with many requests on each: one bind for each after the
// first, none for a request.
TEST_F(P02_CallbackPathDown, EveryConnectionIsBoundOnce) {
  constexpr int kConnections = 8;
  constexpr int kRequests = 100'000 / kConnections;
  start();
  for (int connection = 0; connection < kConnections; ++connection) {
    if (connection > 0) server_.disconnect();
    for (int i = 0; i < kRequests; ++i) ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  }
  EXPECT_EQ(server_.executions_of(OP_BIND_CONN_TO_SESSION), kConnections - 1U);
  EXPECT_EQ(counter("reconnects"), kConnections - 1U);
}

}  // namespace
}  // namespace nfsrdma::client::test
