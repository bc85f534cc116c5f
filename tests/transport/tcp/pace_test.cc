// An unhurried call goes with the next one, or when its time is over.
#include "tests/transport/base/stopped_clock.h"
#include "tests/transport/tcp/channel_fixture.h"

namespace nfsrdma::test {
namespace {

class PaceOfCalls : public TcpChannel {
 protected:
  void SetUp() override {
    auto clock = std::make_unique<testing_support::StoppedClock>();
    clock_ = clock.get();
    reactor_ = std::move(clock);
    TcpChannel::SetUp();
    connect();
    unhurried_ = make_call(1);
    unhurried_->pace = net::Pace::unhurried;
    writes_ = count("write_calls");
  }
  void TearDown() override {
    TcpChannel::TearDown();
    unhurried_.reset();
    next_.reset();
  }
  std::uint64_t writes() { return count("write_calls") - writes_; }

  testing_support::StoppedClock* clock_ = nullptr;
  std::unique_ptr<rpc::Call> unhurried_;
  std::unique_ptr<rpc::Call> next_;
  std::uint64_t writes_ = 0;
};

TEST_F(PaceOfCalls, AnUnhurriedCallGoesInOneWriteWithTheNext) {
  submit(*unhurried_);
  settle();
  EXPECT_EQ(writes(), 0U);
  next_ = make_call(2);
  submit(*next_);
  await_messages(2);
  EXPECT_EQ(writes(), 1U);
}

TEST_F(PaceOfCalls, ItIsKeptForItsTimeAndNoLonger) {
  submit(*unhurried_);
  clock_->advance(net::kLongestHold - std::chrono::nanoseconds(1));
  settle();
  EXPECT_EQ(writes(), 0U);
  clock_->advance(std::chrono::nanoseconds(1));
  await_messages(1);
}

TEST_F(PaceOfCalls, SomebodyWhoWaitsForItHasItSent) {
  submit(*unhurried_);
  settle();
  EXPECT_EQ(writes(), 0U);
  channel_->hurry();
  await_messages(1);
}

// The end of its time finds it behind a message that is half sent, and nothing to do.
TEST_F(PaceOfCalls, ItIsNotCountedAsPartlySentTwice) {
  submit(*unhurried_);
  settle();
  Buffer data = data_->acquire();
  next_ = make_call(2);
  next_->encoder.payload(data.bytes());
  submit(*next_);
  settle();
  const auto partial = count("partial_sends");
  ASSERT_GT(partial, 0U);
  clock_->advance(net::kLongestHold);
  settle();
  EXPECT_EQ(count("partial_sends"), partial);
  server_.close();
  run_until([&] { return observer_.downs == 1; });
}

}  // namespace
}  // namespace nfsrdma::test
