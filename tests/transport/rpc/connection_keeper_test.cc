// The connection keeper: first connection, binding, reconnecting and its pauses.
#include "transport/rpc/connection_keeper.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/transport/rdma/harness.h"
#include "transport/base/log.h"

namespace nfsrdma::test {
namespace {

using namespace std::chrono_literals;

/// A session layer that binds with one call, or as the test says.
class Binder final : public rpc::ChannelBinder, public rpc::BackwardCallHandler {
 public:
  explicit Binder(Harness& harness) : harness_(harness) {}

  Task<Result<void>> on_new_channel(rpc::Channel& channel) override {
    ++binds;
    if (!binds_with_a_call) co_return outcome();
    TestCall call(harness_, xid++);
    call.call.urgency = rpc::Urgency::reserved;
    rpc::submit bind(channel, call.call);
    co_await bind;
    if (!call.call.reply->has_value()) co_return fail(call.call.reply->error());
    co_return outcome();
  }
  void on_backward_call(rpc::BackwardCall& call) override {
    ++callbacks;
    call.answer(rpc::AcceptStat::success);
  }
  void on_channel_lost(const Error& reason) override {
    ++losses;
    last_loss = reason;
  }

  Duration longest_pause() const override { return pause_limit; }

  Duration pause_limit = 1h;
  int binds = 0;
  int losses = 0;
  int callbacks = 0;
  bool binds_with_a_call = true;
  bool fails = false;
  std::uint32_t xid = 0x1000;
  std::optional<Error> last_loss;

 private:
  Result<void> outcome() const {
    if (fails) return fail(Error{Layer::nfs, 10052, "BIND_CONN_TO_SESSION", {}});
    return {};
  }
  Harness& harness_;
};

class Keeper : public testing::Test {
 protected:
  explicit Keeper(const Harness::Setup& setup)
      : harness_(setup),
        binder_(harness_),
        keeper_(harness_.reactor, *harness_.factory, binder_, binder_) {}
  Keeper() : binder_(harness_), keeper_(harness_.reactor, *harness_.factory, binder_, binder_) {}
  void TearDown() override {
    spawn(close());
    harness_.settle();
    EXPECT_TRUE(closed_);
  }
  Task<void> start() {
    auto started = co_await keeper_.start();
    started_ = started.has_value();
    if (!started) start_error_ = started.error();
  }
  Task<void> wait_until_ready() {
    auto channel = co_await keeper_.ready();
    ++ready_;
    if (!channel) ++refused_;
  }
  Task<void> close() {
    co_await keeper_.close();
    closed_ = true;
  }
  /// Answers the newest message the server got.
  void answer() { harness_.answer(harness_.peer().sent_count() - 1); }
  void start_well() {
    spawn(start());
    harness_.settle();
    answer();
    ASSERT_TRUE(started_.value_or(false));
  }
  std::size_t attempts_made() const { return counter(keeper_, "connect_attempts"); }
  void lose(fabric::Fault fault = fabric::Fault::closed) {
    harness_.peer().lose(fault);
    harness_.settle();
  }

  Harness harness_;
  Binder binder_;
  rpc::ConnectionKeeper keeper_;
  std::optional<bool> started_;
  std::optional<Error> start_error_;
  int ready_ = 0;
  int refused_ = 0;
  bool closed_ = false;
};

TEST_F(Keeper, StartEndsWhenTheSessionIsBound) {
  spawn(start());
  spawn(wait_until_ready());
  harness_.settle();
  EXPECT_FALSE(started_.has_value());
  EXPECT_EQ(keeper_.channel(), nullptr) << "connected, not bound";
  answer();
  EXPECT_EQ(started_, true);
  EXPECT_NE(keeper_.channel(), nullptr);
  EXPECT_EQ(ready_, 1);
}

class AutomaticVersion : public Keeper {
 protected:
  AutomaticVersion() : Keeper(setup()) {}
  static Harness::Setup setup() {
    Harness::Setup setup;
    setup.options.version = rdma::VersionChoice::automatic;
    return setup;
  }
};

// V2-5.2-4: a server that drops the connection for the first message of version 2 is reached at
// once with version 1, within the same start, and without a pause.
TEST_F(AutomaticVersion, FirstConnectionThatTellsTheVersionIsFollowedAtOnce) {
  spawn(start());
  harness_.settle();
  lose();
  EXPECT_FALSE(started_.has_value());
  EXPECT_EQ(harness_.fabric.connections(), 2u);
  answer();
  EXPECT_EQ(started_, true);
  EXPECT_EQ(binder_.binds, 1);
}

// V1-5-1: a first connection that fails is reported as it is, and may be tried again.
TEST_F(Keeper, FailedStartIsReported) {
  harness_.fabric.refuses = true;
  spawn(start());
  harness_.settle();
  EXPECT_EQ(started_, false);
  EXPECT_TRUE(start_error_->is(Layer::fabric, static_cast<int>(fabric::Fault::refused)));

  harness_.fabric.refuses = false;
  harness_.fabric.establishes = false;
  spawn(start());
  lose(fabric::Fault::timed_out);
  EXPECT_TRUE(start_error_->is(Layer::fabric, static_cast<int>(fabric::Fault::timed_out)));

  harness_.fabric.establishes = true;
  binder_.fails = true;
  spawn(start());
  harness_.settle();
  answer();
  EXPECT_TRUE(start_error_->is(Layer::nfs, 10052));
  EXPECT_EQ(harness_.fabric.connections(), 2u);

  harness_.reactor.advance(1000s);
  EXPECT_EQ(harness_.fabric.connections(), 2u) << "only after success it reconnects by itself";
  binder_.fails = false;
  start_well();
}

// V1-4.5.5-1, V1-4.5.5-2: after a loss the next attempt is made at once; then the pause is 5 s and
// doubles to 30 s; a connection that was bound and got a reply sets it back.
TEST_F(Keeper, PausesBetweenAttempts) {
  start_well();
  harness_.fabric.establishes = false;
  lose();
  EXPECT_EQ(keeper_.channel(), nullptr);
  EXPECT_EQ(harness_.fabric.connections(), 2u) << "at once";
  std::size_t attempts = 2;
  for (const auto pause : {5s, 10s, 20s, 30s, 30s}) {
    lose(fabric::Fault::timed_out);
    EXPECT_EQ(harness_.fabric.connections(), attempts);
    harness_.reactor.advance(pause - 1ms);
    EXPECT_EQ(harness_.fabric.connections(), attempts) << pause.count();
    harness_.reactor.advance(1ms);
    EXPECT_EQ(harness_.fabric.connections(), ++attempts) << pause.count();
  }
  harness_.fabric.establishes = true;
  harness_.peer().establish({});
  harness_.settle();
  answer();
  ASSERT_NE(keeper_.channel(), nullptr);
  harness_.reactor.advance(rpc::ReconnectPolicy{}.proof);
  lose();
  EXPECT_EQ(harness_.fabric.connections(), attempts + 1) << "at once again";
  answer();
}

// A user waits for the end of the mount, say.
TEST_F(Keeper, APauseIsCutShortForWhoCannotWait) {
  start_well();
  harness_.fabric.refuses = true;
  lose();
  const std::size_t attempts = attempts_made();
  harness_.settle();
  ASSERT_EQ(attempts_made(), attempts) << "it pauses";
  harness_.fabric.refuses = false;
  keeper_.try_at_once();
  harness_.settle();
  ASSERT_EQ(attempts_made(), attempts + 1);
  answer();
  EXPECT_NE(keeper_.channel(), nullptr);
}

// P21: no pause is longer than the session can bear, and it can bear less and less.
TEST_F(Keeper, PausesAsLongAsTheBinderAllows) {
  start_well();
  harness_.fabric.refuses = true;
  binder_.pause_limit = 8s;
  lose();
  std::size_t attempts = attempts_made();
  for (const auto pause : {5s, 8s, 8s}) {
    harness_.reactor.advance(pause - 1ms);
    EXPECT_EQ(attempts_made(), attempts) << pause.count();
    harness_.reactor.advance(1ms);
    EXPECT_EQ(attempts_made(), ++attempts) << pause.count();
  }
  binder_.pause_limit = 1s;
  harness_.reactor.advance(8s);
  EXPECT_EQ(attempts_made(), attempts + 1);
  harness_.reactor.advance(10s);
  EXPECT_EQ(attempts_made(), attempts + 11);
  harness_.fabric.refuses = false;
  harness_.reactor.advance(1s);
  answer();
  EXPECT_NE(keeper_.channel(), nullptr);
}

// P21: an attempt that gets no answer ends when the session can bear no more, the next begins at
// once: the pause is over by then.
TEST_F(Keeper, AttemptsWithoutAnAnswerEnd) {
  start_well();
  harness_.fabric.establishes = false;
  binder_.pause_limit = 7s;
  lose();
  ASSERT_EQ(attempts_made(), 2u);
  harness_.reactor.advance(7s - 1ms);
  EXPECT_EQ(attempts_made(), 2u);
  harness_.reactor.advance(1ms);
  EXPECT_EQ(attempts_made(), 3u);
  binder_.pause_limit = 1s;
  harness_.reactor.advance(7s);
  EXPECT_EQ(attempts_made(), 4u);
  harness_.reactor.advance(rpc::kShortestAttempt);
  EXPECT_EQ(attempts_made(), 5u) << "each gets time for a handshake";
  harness_.fabric.establishes = true;
  harness_.reactor.advance(rpc::kShortestAttempt);
  answer();
  ASSERT_NE(keeper_.channel(), nullptr);
  harness_.reactor.advance(1h);
  EXPECT_EQ(attempts_made(), 6u) << "a connection that is up may last";
}

// A server that accepts connections and drops them before any reply is not hammered.
TEST_F(Keeper, ConnectionsWithoutAReplyDoNotResetThePause) {
  start_well();
  lose();
  EXPECT_EQ(harness_.fabric.connections(), 2u);
  lose();
  EXPECT_EQ(harness_.fabric.connections(), 2u);
  harness_.reactor.advance(5s);
  EXPECT_EQ(harness_.fabric.connections(), 3u);
  lose();
  harness_.reactor.advance(9s);
  EXPECT_EQ(harness_.fabric.connections(), 3u);
  harness_.reactor.advance(1s);
  answer();
  EXPECT_NE(keeper_.channel(), nullptr);
}

// A server that answers a little on each connection and then ends it is not hammered either: the
// pause grows, until a connection lasts.
TEST_F(Keeper, ConnectionsThatEndSoonAreFollowedByPauses) {
  start_well();
  lose();
  answer();
  std::size_t connections = 2;
  for (const auto pause : {50ms, 100ms, 200ms, 400ms, 500ms, 500ms}) {
    lose();
    harness_.reactor.advance(pause - 1ms);
    EXPECT_EQ(harness_.fabric.connections(), connections) << pause.count();
    harness_.reactor.advance(1ms);
    EXPECT_EQ(harness_.fabric.connections(), ++connections) << pause.count();
    answer();
    ASSERT_NE(keeper_.channel(), nullptr);
  }
  harness_.reactor.advance(rpc::ReconnectPolicy{}.proof);
  lose();
  EXPECT_EQ(harness_.fabric.connections(), ++connections) << "at once again";
  answer();
  lose();
  EXPECT_EQ(harness_.fabric.connections(), ++connections) << "and so after the first that is brief";
  answer();
}

// Nor do its connections fill the log.
TEST_F(Keeper, ConnectionsThatEndSoonAreNotAllLogged) {
  start_well();
  log::set_level(log::Level::info);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 100; ++i) {
    lose();
    harness_.reactor.advance(1s);
    answer();
    ASSERT_NE(keeper_.channel(), nullptr);
    harness_.peer().forget_sent();
  }
  const std::string written = testing::internal::GetCapturedStderr();
  log::set_level(log::Level::off);
  // "connected", "version", "connected again" and why each was lost; two minutes at most.
  EXPECT_LE(std::count(written.begin(), written.end(), '\n'), 4 * 2 * log::Limit::kLines);
  EXPECT_NE(written.find("such lines were left out"), std::string::npos);
}

// Nor is one that refuses to bind the session.
TEST_F(Keeper, FailedBindPauses) {
  start_well();
  binder_.fails = true;
  lose();
  answer();
  EXPECT_EQ(keeper_.channel(), nullptr);
  EXPECT_EQ(harness_.fabric.connections(), 2u);
  EXPECT_EQ(binder_.losses, 2);
  harness_.reactor.advance(5s);
  EXPECT_EQ(harness_.fabric.connections(), 3u);
  binder_.fails = false;
  answer();
  EXPECT_NE(keeper_.channel(), nullptr);
}

// The channel is out of reach before its calls end, so that no owner submits them to it again.
TEST_F(Keeper, NoChannelWhileItsCallsEnd) {
  start_well();
  TestCall call(harness_, 1);
  bool checked = false;
  call.on_done = [&] {
    EXPECT_EQ(keeper_.channel(), nullptr);
    EXPECT_EQ(binder_.losses, 0) << "told after the calls";
    checked = true;
  };
  call.submit_to(*keeper_.channel());
  lose();
  EXPECT_TRUE(checked);
  EXPECT_EQ(binder_.losses, 1);
  answer();
}

// V1-4.5.5-1, E-8881-14: the session layer's way: wait, submit the same call again.
Task<void> call_until_answered(rpc::ConnectionKeeper& keeper, rpc::Call& call, bool& answered) {
  for (;;) {
    auto channel = co_await keeper.ready();
    if (!channel) co_return;
    rpc::submit attempt(**channel, call);
    co_await attempt;
    answered = call.reply->has_value();
    if (answered || call.reply->error().layer != Layer::fabric) co_return;
  }
}

TEST_F(Keeper, CallIsReplayedOnTheNextConnection) {
  start_well();
  TestCall call(harness_, 0x42);
  bool answered = false;
  spawn(call_until_answered(keeper_, call.call, answered));
  harness_.settle();
  const Bytes first = harness_.peer().sent(1).bytes;
  lose(fabric::Fault::reset);
  answer();  // the binding of the new connection
  EXPECT_FALSE(answered);
  ASSERT_EQ(harness_.peer().sent_count(), 2u);
  EXPECT_EQ(harness_.peer().sent(1).bytes, first);
  answer();
  EXPECT_TRUE(answered);
}

TEST_F(Keeper, LossWhileBinding) {
  start_well();
  lose();
  EXPECT_EQ(binder_.binds, 2);
  lose();
  EXPECT_EQ(binder_.losses, 2);
  harness_.reactor.advance(5s);
  EXPECT_EQ(binder_.binds, 3);
  answer();
  EXPECT_NE(keeper_.channel(), nullptr);
}

TEST_F(Keeper, DropMakesANewConnection) {
  start_well();
  EXPECT_TRUE(keeper_.drop(Error::local(0, "no answer")));
  EXPECT_FALSE(keeper_.drop(Error::local(0, "no answer"))) << "it is ending already";
  EXPECT_EQ(keeper_.channel(), nullptr);
  harness_.settle();
  EXPECT_EQ(harness_.fabric.connections(), 2u);
  answer();
  EXPECT_NE(keeper_.channel(), nullptr);
}

TEST_F(Keeper, CallbacksReachTheBinder) {
  start_well();
  rdma::Header header;
  header.rdma_xid = 9;
  harness_.deliver(encode(header, rpc_call(9)));
  EXPECT_EQ(binder_.callbacks, 1);
}

// P4: closing is bounded from every state, and tells what waits.
// What a mount did stands in its counters when it has ended, and while it has no connection.
TEST_F(Keeper, CountersOfTheLastConnectionStay) {
  start_well();
  const auto sends = counter(keeper_, "sends");
  EXPECT_GT(sends, 0u);
  harness_.fabric.refuses = true;
  lose();
  EXPECT_EQ(counter(keeper_, "sends"), sends);
  EXPECT_FALSE(keeper_.drop(Error::local(0, "no answer"))) << "while there is no connection";
  harness_.fabric.refuses = false;
  harness_.reactor.advance(1000s);
  answer();
  EXPECT_GT(counter(keeper_, "sends"), sends);
  spawn(close());
  harness_.settle();
  EXPECT_GT(counter(keeper_, "sends"), sends);
}

TEST_F(Keeper, CloseWhilePausing) {
  start_well();
  harness_.fabric.refuses = true;
  lose();
  harness_.reactor.advance(7s);
  spawn(wait_until_ready());
  harness_.settle();
  spawn(close());
  harness_.settle();
  EXPECT_TRUE(closed_);
  EXPECT_EQ(refused_, 1);
  harness_.fabric.refuses = false;
  harness_.reactor.advance(1000s);
  EXPECT_EQ(harness_.fabric.connections(), 1u);
}

TEST_F(Keeper, CloseWhileConnecting) {
  harness_.fabric.establishes = false;
  spawn(start());
  harness_.settle();
  spawn(close());
  harness_.settle();
  EXPECT_TRUE(closed_);
  EXPECT_EQ(started_, false);
}

TEST_F(Keeper, CloseWhileBinding) {
  spawn(start());
  harness_.settle();
  spawn(close());
  harness_.settle();
  EXPECT_TRUE(closed_);
  EXPECT_EQ(started_, false);
  EXPECT_EQ(binder_.losses, 1);
}

}  // namespace
}  // namespace nfsrdma::test
