// An unhurried message goes with the next one, or when its time is over.
#include "tests/transport/base/stopped_clock.h"
#include "tests/transport/fabric/fabric_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

using testing_support::StoppedClock;

class PaceTest : public FabricTest {
 protected:
  PaceTest() : FabricTest(std::make_unique<StoppedClock>()) {}

  void SetUp() override {
    connect();
    loop.settle();
    writes_ = client.counter("write_calls");
  }
  void send(std::span<const std::byte> data, net::Pace pace) {
    const std::span<const std::byte> pieces[] = {data};
    SendWork work;
    work.pieces = pieces;
    work.pace = pace;
    ASSERT_TRUE(client.endpoint->post_send(work));
    loop.settle();
  }
  std::uint64_t writes() { return client.counter("write_calls") - writes_; }
  StoppedClock& clock() { return static_cast<StoppedClock&>(loop.reactor()); }
  bool arrived(std::size_t messages) {
    return static_cast<bool>(loop.until([&] { return server().messages.size() == messages; }));
  }

  const Bytes close_ = pattern(300);
  const Bytes open_ = pattern(200, 2);
  std::uint64_t writes_ = 0;
};

TEST_P(PaceTest, AnUnhurriedMessageGoesInOneWriteWithTheNext) {
  send(close_, net::Pace::unhurried);
  EXPECT_EQ(writes(), 0U);
  send(open_, net::Pace::prompt);
  ASSERT_TRUE(arrived(2));
  EXPECT_EQ(writes(), 1U);
  EXPECT_EQ(server().messages[0].data, close_);
  EXPECT_EQ(server().messages[1].data, open_);
}

TEST_P(PaceTest, ItIsKeptForItsTimeAndNoLonger) {
  send(close_, net::Pace::unhurried);
  clock().advance(net::kLongestHold - std::chrono::nanoseconds(1));
  loop.settle();
  EXPECT_EQ(writes(), 0U);
  clock().advance(std::chrono::nanoseconds(1));
  ASSERT_TRUE(arrived(1));
}

TEST_P(PaceTest, SomebodyWhoWaitsForItHasItSent) {
  client.endpoint->hurry();
  send(close_, net::Pace::unhurried);
  EXPECT_EQ(writes(), 0U);
  client.endpoint->hurry();
  ASSERT_TRUE(arrived(1));
}

TEST_P(PaceTest, TheEndOfTheConnectionSendsIt) {
  send(close_, net::Pace::unhurried);
  client.endpoint->disconnect(Error::local(0, "end of test"));
  ASSERT_TRUE(arrived(1));
}

INSTANTIATE_TEST_SUITE_P(Providers, PaceTest,
                         ::testing::Values(Provider{"iwarp4", make_listening_iwarp_fabric,
                                                    "127.0.0.1"}),
                         provider_name);

}  // namespace
}  // namespace nfsrdma::fabric::testing
