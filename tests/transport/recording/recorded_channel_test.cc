// Which messages of a connection are recorded, and that its user notices nothing.
#include "transport/recording/recorded_channel.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>
#include <vector>

#include "transport/rpc/message.h"

namespace nfsrdma::recording {
namespace {

/// What went one way or the other, as "sent N" with the bytes of each message.
struct Record {
  std::vector<std::string> lines;
  std::uint16_t server_port = 0;
  int flows = 0;
};

class RecordingFlow final : public capture::Flow {
 public:
  explicit RecordingFlow(Record& record) : record_(record) { ++record_.flows; }
  ~RecordingFlow() override { --record_.flows; }
  void sent(std::span<const iovec>, std::size_t bytes) override {
    record_.lines.push_back("sent " + std::to_string(bytes));
  }
  void received(std::span<const iovec>, std::size_t bytes) override {
    record_.lines.push_back("received " + std::to_string(bytes));
  }

 private:
  Record& record_;
};

class RecordingSink final : public capture::Sink {
 public:
  std::unique_ptr<capture::Flow> open_flow(const sockaddr&, const sockaddr& peer, bool,
                                           capture::Carried) override {
    record.server_port = ntohs(reinterpret_cast<const sockaddr_in&>(peer).sin_port);
    if (off) return nullptr;
    return std::make_unique<RecordingFlow>(record);
  }
  void flush() override {}

  Record record;
  bool off = false;
};

/// A channel whose other end is the test.
class FakeChannel final : public rpc::Channel {
 public:
  explicit FakeChannel(rpc::ChannelObserver& of) : observer(of) {}
  void submit(rpc::Call& call) override { submitted.push_back(&call); }
  const rpc::ChannelLimits& limits() const override { return limits_; }
  void close(Error) override {}
  std::size_t open_calls() const override { return submitted.size(); }
  void visit_counters(CounterVisitor&) const override {}

  rpc::ChannelObserver& observer;
  std::vector<rpc::Call*> submitted;

 private:
  rpc::ChannelLimits limits_;
};

class FakeFactory final : public rpc::ChannelFactory {
 public:
  Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelObserver& observer) override {
    auto made = std::make_unique<FakeChannel>(observer);
    channel = made.get();
    return made;
  }
  std::string_view description() const override { return "fake"; }

  FakeChannel* channel = nullptr;
};

class FakeCallback final : public rpc::BackwardCall {
 public:
  FakeCallback() : arguments_(std::span(message_)), results_(memory_) { results_.u32(0); }
  const rpc::CallHeader& header() const override { return header_; }
  xdr::Decoder& arguments() override { return arguments_; }
  xdr::Encoder& results() override { return results_; }
  void answer(rpc::AcceptStat status) override { answered = status; }

  std::optional<rpc::AcceptStat> answered;

 private:
  std::array<std::byte, 40> message_{};
  std::array<std::byte, 64> memory_{};
  rpc::CallHeader header_;
  xdr::Decoder arguments_;
  xdr::Encoder results_;
};

class RecordedChannelTest : public ::testing::Test,
                            public rpc::ChannelObserver,
                            public rpc::CallObserver {
 protected:
  void SetUp() override {
    server_.storage.ss_family = AF_INET;
    channel_ = std::move(*RecordedChannel::connect(factory_, sink_, server_, *this));
  }
  void on_channel_up() override { ++ups_; }
  void on_backward_call(rpc::BackwardCall& call) override { callback_ = &call; }
  void on_channel_down(const Error&) override { ++downs_; }
  void on_call_done(rpc::Call& call) override { done_.push_back(&call); }

  void up() { factory_.channel->observer.on_channel_up(); }
  std::unique_ptr<rpc::Call> make_call() {
    auto call = std::make_unique<rpc::Call>(pool_->acquire());
    call->encoder.u32(7);
    call->observer = this;
    return call;
  }
  void answer(rpc::Call& call, std::size_t bytes) {
    call.reply = rpc::Reply{nullptr, std::nullopt, xdr::Decoder(std::span(memory_).first(bytes))};
    call.observer->on_call_done(call);
  }

  std::unique_ptr<BufferPool> pool_ = std::move(*BufferPool::create(4096, 4));
  std::array<std::byte, 256> memory_{};
  FakeFactory factory_;
  RecordingSink sink_;
  net::Address server_;
  std::unique_ptr<rpc::Channel> channel_;
  int ups_ = 0;
  int downs_ = 0;
  rpc::BackwardCall* callback_ = nullptr;
  std::vector<rpc::Call*> done_;
};

using Lines = std::vector<std::string>;

TEST_F(RecordedChannelTest, CallsAndRepliesAreRecordedInTheFlowOfTheConnection) {
  EXPECT_EQ(sink_.record.flows, 0) << "before there is a connection";
  up();
  EXPECT_EQ(ups_, 1);
  EXPECT_EQ(sink_.record.flows, 1);
  EXPECT_EQ(sink_.record.server_port, 2049);
  const auto call = make_call();
  channel_->submit(*call);
  ASSERT_EQ(factory_.channel->submitted.size(), 1U);
  EXPECT_EQ(sink_.record.lines, Lines{"sent 8"});
  answer(*call, 36);
  EXPECT_EQ(sink_.record.lines, (Lines{"sent 8", "received 40"}));
  EXPECT_EQ(done_, std::vector<rpc::Call*>{call.get()});
  EXPECT_EQ(call->observer, this) << "as if there were no record";
  factory_.channel->observer.on_channel_down(Error::local(0, "test", ""));
  EXPECT_EQ(downs_, 1);
  EXPECT_EQ(sink_.record.flows, 0);
}

TEST_F(RecordedChannelTest, ACallThatFailsHasNoReply) {
  up();
  const auto call = make_call();
  channel_->submit(*call);
  call->reply = fail(Error::local(0, "test", "the connection is gone"));
  call->observer->on_call_done(*call);
  EXPECT_EQ(sink_.record.lines, Lines{"sent 8"});
  EXPECT_EQ(done_.size(), 1U);
}

TEST_F(RecordedChannelTest, ACallbackAndItsAnswerAreRecorded) {
  up();
  FakeCallback callback;
  factory_.channel->observer.on_backward_call(callback);
  ASSERT_TRUE(callback_);
  EXPECT_EQ(sink_.record.lines, Lines{"received 44"});
  callback_->results().u32(1);
  callback_->answer(rpc::AcceptStat::success);
  EXPECT_EQ(callback.answered, rpc::AcceptStat::success);
  EXPECT_EQ(sink_.record.lines.back(), "sent 12");
}

TEST_F(RecordedChannelTest, ARefusedCallbackIsRecordedAsTheRefusal) {
  up();
  FakeCallback callback;
  factory_.channel->observer.on_backward_call(callback);
  callback_->answer(rpc::AcceptStat::proc_unavail);
  EXPECT_EQ(callback.answered, rpc::AcceptStat::proc_unavail);
  EXPECT_EQ(sink_.record.lines.back(), "sent " + std::to_string(4 + rpc::kAcceptedReplyHeader));
}

TEST_F(RecordedChannelTest, ACallbackMayBeAnsweredWhenTheConnectionIsGone) {
  up();
  FakeCallback callback;
  factory_.channel->observer.on_backward_call(callback);
  factory_.channel->observer.on_channel_down(Error::local(0, "test", ""));
  channel_.reset();
  EXPECT_EQ(sink_.record.flows, 1) << "as long as the callback needs it";
  callback_->answer(rpc::AcceptStat::success);
  EXPECT_EQ(sink_.record.flows, 0);
}

TEST_F(RecordedChannelTest, AConnectionThatIsNotRecordedIsPassedThrough) {
  sink_.off = true;
  up();
  const auto call = make_call();
  channel_->submit(*call);
  EXPECT_EQ(call->observer, this);
  FakeCallback callback;
  factory_.channel->observer.on_backward_call(callback);
  EXPECT_EQ(callback_, &callback);
  EXPECT_TRUE(sink_.record.lines.empty());
}

}  // namespace
}  // namespace nfsrdma::recording
