// Callbacks over the connection that the client has made (RFC 8881 section 2.10.3.1).
#include "tests/transport/tcp/channel_fixture.h"

namespace nfsrdma::test {
namespace {

class Backward : public TcpChannel {
 protected:
  void SetUp() override {
    TcpChannel::SetUp();
    observer_.on_callback = [this](rpc::BackwardCall& call) { open_.push_back(&call); };
    connect();
  }
  void call_back(std::uint32_t xid) { server_.send(record(rpc_call(xid))); }
  void answer_first(rpc::AcceptStat status = rpc::AcceptStat::success) {
    rpc::BackwardCall* call = open_.front();
    open_.erase(open_.begin());
    call->results().u32(0x600D);
    call->answer(status);
  }

  std::vector<rpc::BackwardCall*> open_;
};

TEST_F(Backward, AnsweredOnTheSameConnection) {
  // Both directions have their own XIDs.
  auto call = make_call(5);
  submit(*call);
  call_back(5);
  run_until([&] { return open_.size() == 1; });
  EXPECT_EQ(open_[0]->header().xid, 5U);
  EXPECT_EQ(open_[0]->header().procedure, 1U);
  EXPECT_EQ(count("callbacks_open"), 1U);
  answer_first();
  await_messages(2);
  EXPECT_EQ(server_.messages[1], words({5, 1, 0, 0, 0, 0, 0x600D}));
  server_.send(record(rpc_reply(5)));
  run_until([&] { return done_ == 1; });
  EXPECT_EQ(count("callbacks_open"), 0U);
}

TEST_F(Backward, AnsweredLaterAndInAnyOrder) {
  for (std::uint32_t xid = 1; xid <= 3; ++xid) call_back(xid);
  run_until([&] { return open_.size() == 3; });
  std::swap(open_[0], open_[2]);
  for (int i = 0; i < 3; ++i) answer_first();
  await_messages(3);
  EXPECT_EQ(xdr::Decoder(server_.messages[0]).u32("xid"), 3U);
  EXPECT_EQ(xdr::Decoder(server_.messages[2]).u32("xid"), 1U);
}

// A server waits for the answer for seconds, and data that fills a slow line may need a minute.
TEST_F(Backward, AnsweredBeforeDataThatWaits) {
  std::vector<Buffer> data;
  std::vector<std::unique_ptr<rpc::Call>> calls;
  for (std::uint32_t xid = 1; xid <= 3; ++xid) {
    data.push_back(data_->acquire());
    calls.push_back(make_call(xid));
    calls.back()->encoder.payload(data.back().bytes());
    submit(*calls.back());
  }
  EXPECT_EQ(count("partial_sends"), 3U) << "the server reads nothing";
  call_back(9);
  run_until([&] { return open_.size() == 1; });
  answer_first();
  await_messages(4);
  EXPECT_EQ(xdr::Decoder(server_.messages[0]).u32("xid"), 1U);
  EXPECT_EQ(xdr::Decoder(server_.messages[1]).u32("xid"), 9U);
  disconnect();
  EXPECT_EQ(done_, 3);
}

TEST_F(Backward, FailuresAreAnswered) {
  call_back(1);
  run_until([&] { return open_.size() == 1; });
  answer_first(rpc::AcceptStat::prog_unavail);
  server_.send(record(rpc_call(2, 3)));                // another RPC version
  server_.send(record(words({3, 0, 2, 1, 1, 1, 9})));  // ends in its credential
  await_messages(3);
  EXPECT_EQ(server_.messages[0], words({1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(server_.messages[1], words({2, 1, 1, 0, 2, 2}));
  EXPECT_EQ(server_.messages[2], words({3, 1, 0, 0, 0, 4}));
}

TEST_F(Backward, TooLongEndsTheConnection) {
  auto open = make_call(7);
  submit(*open);
  Bytes call = rpc_call(1);
  append(call, pattern(options_.message_size));
  server_.send(record(call));
  run_until([&] { return observer_.downs == 1; });
  EXPECT_EQ(count("bad_records"), 1U);
  EXPECT_FALSE(open->isolated()) << "no call has caused it";
}

TEST_F(Backward, MoreThanThereIsRoomFor) {
  for (std::uint32_t xid = 1; xid <= 2 * options_.backward_calls; ++xid) call_back(xid);
  run_until([&] { return open_.size() == 2 * options_.backward_calls; });
  EXPECT_EQ(observer_.downs, 0);
  auto open = make_call(7);
  submit(*open);
  call_back(1000);
  run_until([&] { return observer_.downs == 1; });
  EXPECT_FALSE(open->isolated()) << "no call has caused it";
  EXPECT_EQ(count("backward_overruns"), 1U);
  while (!open_.empty()) answer_first();  // into nothing
}

TEST_F(Backward, AnsweredAfterTheConnectionIsLost) {
  call_back(1);
  run_until([&] { return open_.size() == 1; });
  server_.close();
  run_until([&] { return observer_.downs == 1; });
  connect();
  answer_first();
  call_back(2);
  run_until([&] { return open_.size() == 1; });
  answer_first();
  await_messages(1);
  EXPECT_EQ(xdr::Decoder(server_.messages[0]).u32("xid"), 2U);
}

}  // namespace
}  // namespace nfsrdma::test
