// Callbacks: Calls from the server over the client's connection (RFC 8167), in both versions.
#include <gtest/gtest.h>

#include <deque>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

constexpr std::uint32_t kGrant = 3;

class Backward : public testing::TestWithParam<std::uint32_t> {
 protected:
  Backward() : harness_(setup()) {}
  static Harness::Setup setup() {
    Harness::Setup setup;
    setup.options.backward_credits = kGrant;
    return Harness::Setup::of_version(GetParam(), setup);
  }
  static std::uint32_t version() { return GetParam(); }
  static std::uint32_t other_version() { return GetParam() == 1 ? 2 : 1; }
  void SetUp() override {
    harness_.connect();
    harness_.observer.on_callback = [this](rpc::BackwardCall& call) { pending_.push_back(&call); };
  }

  rdma::Header& call_header(std::uint32_t xid) {
    header_ = {};
    header_.rdma_vers = version();
    header_.rdma_xid = xid;
    header_.rdma_credit = 1;
    return header_;
  }
  void call_back(std::uint32_t xid) { harness_.deliver(encode(call_header(xid), rpc_call(xid))); }
  void answer_first(rpc::AcceptStat status = rpc::AcceptStat::success) {
    rpc::BackwardCall* call = pending_.front();
    pending_.pop_front();
    call->answer(status);
    harness_.settle();
  }
  std::unique_ptr<Seen> last_sent() {
    return parse(harness_.peer().sent(harness_.peer().sent_count() - 1).bytes);
  }

  Harness harness_;
  rdma::Header header_;
  std::deque<rpc::BackwardCall*> pending_;
};

// V1-7.1-1, BD-1, BD-16, BD-17, BD-4, E-8167-5, V1-2.2.3-1: the reply repeats XID and version,
// carries the grant, and has no chunks.
TEST_P(Backward, ReplyByteForByte) {
  call_back(0x55);
  ASSERT_EQ(pending_.size(), 1u);
  EXPECT_EQ(pending_[0]->header().program, 0x40000000u);
  EXPECT_EQ(pending_[0]->header().procedure, 1u);
  pending_[0]->results().u32(0xAB);
  answer_first();
  EXPECT_EQ(harness_.peer().sent(0).bytes,
            words({0x55, version(), kGrant, rdma::RDMA_MSG, 0, 0, 0,  //
                   0x55, 1, 0, 0, 0, 0, 0xAB}));
}

// BD-2, BD-18, E-8167-1, V1-4-2, V1-2.2.2-1: equal XIDs in both directions are two transactions.
TEST_P(Backward, EqualXidsAreTwoTransactions) {
  TestCall forward(harness_, 0x55);
  forward.submit();
  call_back(0x55);
  EXPECT_FALSE(forward.done());
  ASSERT_EQ(pending_.size(), 1u);
  harness_.answer(0);
  EXPECT_TRUE(forward.ok());
  answer_first();
  EXPECT_EQ(last_sent()->header.rdma_xid, 0x55u);
}

// BD-3, E-8167-2: the accounts are separate: callbacks flow while the forward credits are used up,
// and move no forward level.
TEST_P(Backward, CreditsAreSeparate) {
  TestCall open(harness_, 1);
  TestCall waiting(harness_, 2);
  open.submit();
  waiting.submit();
  header_ = call_header(0x60);
  header_.rdma_credit = 100;
  harness_.deliver(encode(header_, rpc_call(0x60)));
  EXPECT_EQ(counter(*harness_.channel, "credit_limit"), 1u);
  answer_first();
  EXPECT_EQ(harness_.peer().sent_count(), 2u) << "the callback's reply, not the waiting call";
  harness_.answer(0);
  harness_.answer(2);
  EXPECT_TRUE(waiting.ok());
}

// BD-8, E-8167-4, V1-3.3.1-9: with every callback of the grant being handled, as many Receives are
// posted again, besides those of the open forward Calls.
TEST_P(Backward, ReceivesStayPosted) {
  TestCall open(harness_, 1);
  open.submit();
  for (std::uint32_t i = 0; i < kGrant; ++i) call_back(0x60 + i);
  EXPECT_EQ(pending_.size(), kGrant);
  EXPECT_GE(harness_.peer().receives(), kGrant + 1);
  while (!pending_.empty()) answer_first();
  harness_.answer(0);
  EXPECT_TRUE(open.ok());
}

// I2: a callback that is being handled keeps its message.
TEST_P(Backward, ArgumentsStayWhileHandled) {
  call_back(0x60);
  header_ = call_header(0x61);
  Bytes with_argument = rpc_call(0x61);
  const Bytes argument = words({0x12345678});
  with_argument.insert(with_argument.end(), argument.begin(), argument.end());
  harness_.deliver(encode(header_, with_argument));
  for (std::uint32_t xid = 1; xid < 50; ++xid) {
    TestCall other(harness_, xid);
    other.submit();
    harness_.answer(harness_.peer().sent_count() - 1);
  }
  EXPECT_EQ(pending_[1]->arguments().u32("argument"), 0x12345678u);
  answer_first();
  answer_first();
}

// BD-5: more callbacks at once than granted are a slip of the server: handled while there is room,
// and the end of the connection when there is none left.
TEST_P(Backward, OverrunIsCountedAndBounded) {
  for (std::uint32_t i = 0; i < 2 * kGrant; ++i) call_back(0x60 + i);
  EXPECT_EQ(pending_.size(), 2 * kGrant);
  EXPECT_EQ(counter(*harness_.channel, "backward_overruns"), kGrant);
  EXPECT_EQ(harness_.observer.closings, 0);
  call_back(0x70);
  EXPECT_EQ(harness_.observer.closings, 1);
  while (!pending_.empty()) answer_first();
}

// BD-20, BD-19, E-8167-6, F-11, V1-4.5-3, V1-4.5-5, E-8267-12: chunks in a callback are answered
// with ERR_CHUNK, 20 bytes long, whichever list they are in.
TEST_P(Backward, ChunksAreRefused) {
  for (int list = 0; list < 4; ++list) {
    call_header(0x60);
    if (list == 0) header_.chunks.add_read(40, {1, 2, 3});
    if (list == 1) header_.chunks.add_write()->add({1, 2, 3});
    header_.chunks.has_reply = list == 2;
    if (list == 3) {
      header_.chunks.add_read(0, {1, 200, 3});
      header_.proc = rdma::RDMA_NOMSG;
    }
    harness_.deliver(encode(header_, list == 3 ? Bytes{} : rpc_call(0x60)));
    EXPECT_TRUE(pending_.empty());
    const auto& answer = harness_.peer().sent(harness_.peer().sent_count() - 1).bytes;
    EXPECT_EQ(answer, words({0x60, version(), kGrant, rdma::RDMA_ERROR, rdma::ERR_CHUNK})) << list;
  }
}

// BD-18, V1-4.2.1-1, V1-4.5.2-1, F-8: header and RPC message with different XIDs.
TEST_P(Backward, XidMismatchIsRefused) {
  harness_.deliver(encode(call_header(0x60), rpc_call(0x61)));
  EXPECT_TRUE(pending_.empty());
  EXPECT_EQ(last_sent()->header.proc, rdma::RDMA_ERROR);
  EXPECT_EQ(last_sent()->header.error.err, rdma::ERR_CHUNK);
}

// BD-17, V1-4.2.2-1, V1-4.5.1-1, V1-4.5-5: a callback of another version of the transport gets
// ERR_VERS with its own version word.
TEST_P(Backward, OtherVersionIsRefused) {
  for (std::uint32_t version : {0u, other_version(), 99u}) {
    call_header(0x60).rdma_vers = version;
    harness_.deliver(encode(header_, rpc_call(0x60)));
    EXPECT_EQ(
        harness_.peer().sent(harness_.peer().sent_count() - 1).bytes,
        words({0x60, version, kGrant, rdma::RDMA_ERROR, rdma::ERR_VERS, GetParam(), GetParam()}));
  }
  EXPECT_TRUE(pending_.empty());
}

// V1-4.2.4-5, V1-4.2.4-6, V1-4.5-4, B4-5.5-1 (not followed: F-1), F-2: never an answer to what is
// no Call: errors, replies, garbage.
TEST_P(Backward, OnlyCallsAreAnswered) {
  harness_.deliver(words({1, version(), 1, rdma::RDMA_ERROR, rdma::ERR_CHUNK}));
  harness_.deliver(encode(call_header(0x60), rpc_reply(0x60)));
  call_header(0x60).rdma_vers = other_version();
  harness_.deliver(encode(header_, rpc_reply(0x60)));
  harness_.deliver(words({1, 7, 1, 9, 9, 9, 9}));
  harness_.deliver(words({1, 1, 1, 5, 0, 0, 0}));
  EXPECT_EQ(harness_.peer().sent_count(), 0u);
  EXPECT_EQ(harness_.observer.closings, 0);
}

// RFC 5531: a wrong RPC version, undecodable headers and refused programs get their RPC answers.
TEST_P(Backward, RpcFailuresAreAnswered) {
  harness_.deliver(encode(call_header(0x60), rpc_call(0x60, 3)));
  EXPECT_EQ(last_sent()->payload, words({0x60, 1, 1, 0, 2, 2}));
  harness_.deliver(encode(call_header(0x61), words({0x61, 0, 2, 1, 1})));
  EXPECT_EQ(last_sent()->payload, words({0x61, 1, 0, 0, 0, 4}));
  EXPECT_TRUE(pending_.empty());
  call_back(0x62);
  answer_first(rpc::AcceptStat::prog_unavail);
  EXPECT_EQ(last_sent()->payload, words({0x62, 1, 0, 0, 0, 1}));
  call_back(0x63);
  pending_.front()->results().u32(1);
  answer_first(rpc::AcceptStat::prog_mismatch);
  EXPECT_EQ(last_sent()->payload, words({0x63, 1, 0, 0, 0, 2, 1, 4}));
}

// BD-7, BD-14, E-8167-3, E-8267-13: a callback's reply is bounded by the forward call threshold;
// one that is larger cannot be sent and becomes SYSTEM_ERR.
TEST_P(Backward, ReplyIsBoundedByTheThreshold) {
  const std::size_t room = 4096 - rdma::kMinHeader - rpc::kAcceptedReplyHeader;
  call_back(0x60);
  pending_.front()->results().fixed(pattern(room));
  answer_first();
  EXPECT_EQ(harness_.peer().sent(0).bytes.size(), 4096u);
  call_back(0x61);
  pending_.front()->results().fixed(pattern(room + 4));
  answer_first();
  EXPECT_EQ(last_sent()->payload, words({0x61, 1, 0, 0, 0, 5}));
}

// BD-7: a callback as large as the reply threshold arrives whole.
TEST_P(Backward, CallAtTheThreshold) {
  Bytes call = rpc_call(0x60);
  call.resize(4096 - rdma::kMinHeader);
  harness_.deliver(encode(call_header(0x60), call));
  ASSERT_EQ(pending_.size(), 1u);
  EXPECT_EQ(pending_[0]->arguments().remaining(), call.size() - kRpcCallHeader);
  answer_first();
}

// I4: the memory of a reply is not reused before its Send is done.
TEST_P(Backward, RepliesKeepTheirMemoryUntilSent) {
  harness_.peer().sends_complete = false;
  for (std::uint32_t i = 0; i < 2 * kGrant; ++i) {
    call_back(0x60 + i);
    pending_.front()->results().u32(i);
    answer_first();
  }
  for (std::size_t i = 0; i < 2 * kGrant; ++i) harness_.peer().complete_send(i);
  harness_.settle();
  EXPECT_EQ(harness_.peer().corrupted_sends(), 0u);
  EXPECT_EQ(harness_.factory->pools().backward->in_use(), 0u);
}

// BD-10, BD-12: a callback whose connection is gone may still be answered, into nothing.
TEST_P(Backward, AnswerAfterTheConnectionIsGone) {
  call_back(0x60);
  call_back(0x61);
  harness_.peer().lose(fabric::Fault::reset);
  harness_.settle();
  answer_first();
  harness_.channel.reset();
  answer_first();
  EXPECT_EQ(harness_.factory->pools().backward->in_use(), 0u);
  harness_.observer = {};
  harness_.connect();
  EXPECT_EQ(harness_.peer().receives(), kGrant + (version() == 1 ? 0 : 2));
}

// BD-22: a callback has credentials of its own; a flavor that cannot be read counts as none.
TEST_P(Backward, CredentialsAreIndependent) {
  TestCall forward(harness_, 1);
  forward.submit();                                                                // AUTH_NONE
  harness_.deliver(encode(call_header(0x60), words({0x60, 0, 2, 0x40000000, 1, 1,  //
                                                    1, 24, 0, 0, 4, 5, 1, 6,       //
                                                    0, 0})));
  ASSERT_EQ(pending_.size(), 1u);
  const rpc::Credential& credential = pending_[0]->header().credential;
  EXPECT_EQ(credential.flavor, rpc::AuthFlavor::sys);
  EXPECT_EQ(credential.uid, 4u);
  EXPECT_EQ(credential.gid, 5u);
  ASSERT_EQ(credential.group_count, 1u);
  EXPECT_EQ(credential.groups[0], 6u);
  answer_first();
  harness_.deliver(encode(call_header(0x61), words({0x61, 0, 2, 0x40000000, 1, 1, 6, 0, 0, 0})));
  ASSERT_EQ(pending_.size(), 1u);
  EXPECT_EQ(pending_[0]->header().credential.flavor, rpc::AuthFlavor::none);
  EXPECT_EQ(pending_[0]->header().raw_flavor, rpc::AuthFlavor::rpcsec_gss);
  answer_first(rpc::AcceptStat::system_err);
  harness_.answer(0);
  EXPECT_TRUE(forward.ok());
}

// E-8797-5: a callback invalidates nothing.
TEST_P(Backward, CallbackThatInvalidatesEndsTheConnection) {
  TestCall forward(harness_, 0x60);
  Buffer sink = harness_.data->acquire();
  forward.call.result_sink = sink.first(9000);
  forward.submit();
  const auto handle = harness_.peer().sent(0).leases[0]->segment.handle;
  harness_.deliver(encode(call_header(0x60), rpc_call(0x60)), handle);
  EXPECT_EQ(harness_.observer.downs, 1);
  EXPECT_TRUE(pending_.empty());
}

// V2-4.2-8, V2-4.2-9: the backward direction of version 2 is that of version 1, without any
// property.
// V1-3.3.2-2: the answer fits what the server receives into, whatever this side has room for.
TEST(BackwardOfSmallServers, TheAnswerIsNoLongerThanTheServerTakes) {
  constexpr std::size_t kSmall = 1024;
  Harness::Setup setup;
  setup.server =
      rdma::PrivateData{.remote_invalidation = true, .send_size = kSmall, .receive_size = kSmall};
  Harness harness(setup);
  harness.connect();
  bool fits = false;
  harness.observer.on_callback = [&](rpc::BackwardCall& call) {
    for (std::size_t bytes = 0; bytes < 2 * kSmall; bytes += 4) call.results().u32(7);
    fits = call.results().ok();
    call.answer(rpc::AcceptStat::success);
  };
  rdma::Header header;
  header.rdma_vers = rdma::kVersionOne;
  header.rdma_xid = 0x60;
  header.rdma_credit = 1;
  harness.deliver(encode(header, rpc_call(0x60)));
  EXPECT_FALSE(fits);
  for (std::size_t i = 0; i < harness.peer().sent_count(); ++i) {
    EXPECT_LE(harness.peer().sent(i).bytes.size(), kSmall);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, Backward, testing::Values(1U, 2U));

}  // namespace
}  // namespace nfsrdma::test
