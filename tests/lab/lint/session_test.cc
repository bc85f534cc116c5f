// Hand-made captures of NFS over TCP: breaches of sessions.
#include "tests/lab/lint/lint_fixture.h"
#include "transport/rpc/message.h"
#include "transport/tcp/record_mark.h"

namespace nfsrdma::lab::test {
namespace {

using namespace nfs4;

constexpr Side C = Side::client;
constexpr Side S = Side::server;
constexpr std::uint32_t kHandle = 0x500;

class SessionTest : public LintFixture {
 protected:
  template <class Fill>
  void record(TcpMaker& tcp, Side from, Fill fill) {
    Bytes message(1024);
    xdr::Encoder out(message);
    fill(out);
    message.resize(out.size());
    const auto mark = tcp::encode({.length = static_cast<std::uint32_t>(message.size())});
    Bytes bytes(mark.begin(), mark.end());
    append(bytes, message);
    tcp.send(from, bytes);
  }
  /// SEQUENCE, and PUTROOTFH behind it.
  static void ask(xdr::Encoder& out, std::uint32_t xid, std::uint32_t slot,
                  std::uint32_t sequence) {
    rpc::encode_call_header(out, xid, rpc::kNfsProgram, rpc::kNfsVersion4, kProcCompound, {}, "t");
    encode(out, COMPOUND4args_header{{}, kNfsMinorVersion1, 2});
    encode_operation(out, SEQUENCE4args{{}, sequence, slot, slot, false});
    encode_operation(out, PUTROOTFH4args{});
  }
  void call(TcpMaker& tcp, std::uint32_t xid, std::uint32_t slot, std::uint32_t sequence) {
    record(tcp, C, [&](xdr::Encoder& out) { ask(out, xid, slot, sequence); });
  }
  /// By RPC-over-RDMA, with a Read chunk behind what is in the Send.
  void call_with_chunk(IwarpMaker& wire, std::uint32_t xid, std::uint32_t slot,
                       std::uint32_t sequence) {
    Bytes message(1024);
    xdr::Encoder out(message);
    ask(out, xid, slot, sequence);
    message.resize(out.size());
    Bytes sent =
        rpc_message(xid, read_chunk(static_cast<std::uint32_t>(message.size()), kHandle, 1000), 32);
    append(sent, message);
    wire.send(C, sent);
  }
  void answer(TcpMaker& tcp, std::uint32_t xid, std::uint32_t slot, std::uint32_t sequence,
              nfsstat4 status = NFS4_OK) {
    record(tcp, S, [&](xdr::Encoder& out) {
      rpc::encode_accepted_reply(out, xid, rpc::AcceptStat::success);
      encode(out, COMPOUND4res_header{status, {}, status == NFS4_OK ? 2u : 1u});
      encode_operation(out, SEQUENCE4res{status, {{}, sequence, slot, slot, slot, 0}});
      if (status == NFS4_OK) encode_operation(out, PUTROOTFH4res{});
    });
  }
  CaptureMaker file;
};

TEST_F(SessionTest, RequestsInOrder) {
  TcpMaker tcp(file);
  for (std::uint32_t i = 1; i < 5; ++i) {
    call(tcp, i, 3, 40 + i);
    answer(tcp, i, 3, 40 + i);
  }
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_EQ(messages(), 8u);
}

// 9f02f6180987 of Linux, FreeBSD PR 254816: a slot that is advanced by two.
TEST_F(SessionTest, ASlotSkipsANumber) {
  TcpMaker tcp(file);
  call(tcp, 1, 3, 41);
  answer(tcp, 1, 3, 41);
  call(tcp, 2, 3, 43);
  EXPECT_EQ(first(file), "client: RFC 8881 section 2.10.6.1");
  EXPECT_EQ(seen, "slot 3: 43 comes behind 41");
}

TEST_F(SessionTest, ARefusedSequenceIsUsedAgain) {
  TcpMaker tcp(file);
  call(tcp, 1, 3, 41);
  answer(tcp, 1, 3, 41);
  call(tcp, 2, 3, 42);
  answer(tcp, 2, 3, 42, NFS4ERR_DELAY);
  call(tcp, 3, 3, 42);
  answer(tcp, 3, 3, 42);
  EXPECT_EQ(first(file), "") << seen;
}

// The number belonged to another request: it is used up.
TEST_F(SessionTest, AFalseRetryIsFollowedByTheNextNumber) {
  TcpMaker tcp(file);
  call(tcp, 1, 3, 41);
  answer(tcp, 1, 3, 41);
  call(tcp, 2, 3, 42);
  answer(tcp, 2, 3, 42, NFS4ERR_SEQ_FALSE_RETRY);
  call(tcp, 3, 3, 43);
  EXPECT_EQ(first(file), "") << seen;
}

// The server refuses a call after it has read part of its Read chunk: the slot was used all the
// same.
TEST_F(SessionTest, ACallThatWasReadInPartUsesItsSlot) {
  IwarpMaker wire(file);
  for (std::uint32_t i = 1; i < 4; ++i) {
    call_with_chunk(wire, i, 3, 40 + i);
    wire.read_request(S, {.sink_stag = i, .size = 100, .source_stag = kHandle});
    wire.read_response(C, {i, 0}, Bytes(100));
    Bytes refusal;
    append_words(refusal, {i, rdma::kVersionOne, 32, rdma::RDMA_ERROR, rdma::ERR_CHUNK});
    wire.send(S, refusal);
  }
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_EQ(messages(), 3u);
}

TEST_F(SessionTest, ASlotHasOneRequest) {
  TcpMaker tcp(file);
  call(tcp, 1, 3, 41);
  call(tcp, 2, 3, 42);
  EXPECT_EQ(first(file), "client: RFC 8881 section 2.10.6.1");
}

TEST_F(SessionTest, ARetryNeedsALostConnection) {
  {
    TcpMaker tcp(file);
    call(tcp, 1, 3, 41);
    tcp.close();
    TcpMaker next(file, 1001);
    call(next, 1, 3, 41);
    answer(next, 1, 3, 41);
    EXPECT_EQ(first(file), "") << seen;
  }
  CaptureMaker made;
  TcpMaker tcp(made);
  call(tcp, 1, 3, 41);
  call(tcp, 2, 3, 41);
  EXPECT_EQ(first(made), "client: RFC 8881 section 2.9.2 (E-8881-2)");
}

TEST_F(SessionTest, TheAnswerOfAnotherSlot) {
  TcpMaker tcp(file);
  call(tcp, 1, 3, 41);
  answer(tcp, 1, 4, 41);
  EXPECT_EQ(first(file), "server: RFC 8881 section 18.46.3");
}

TEST_F(SessionTest, OperationsWithoutSequence) {
  TcpMaker tcp(file);
  record(tcp, C, [&](xdr::Encoder& out) {
    rpc::encode_call_header(out, 1, rpc::kNfsProgram, rpc::kNfsVersion4, kProcCompound, {}, "t");
    encode(out, COMPOUND4args_header{{}, kNfsMinorVersion1, 1});
    encode_operation(out, PUTROOTFH4args{});
  });
  EXPECT_EQ(first(file), "client: RFC 8881 section 2.10.2.1");
}

TEST_F(SessionTest, AStatusThatIsNotTheLastOnes) {
  TcpMaker tcp(file);
  call(tcp, 1, 3, 41);
  record(tcp, S, [&](xdr::Encoder& out) {
    rpc::encode_accepted_reply(out, 1, rpc::AcceptStat::success);
    encode(out, COMPOUND4res_header{NFS4ERR_IO, {}, 2});
    encode_operation(out, SEQUENCE4res{NFS4_OK, {{}, 41, 3, 3, 3, 0}});
    encode_operation(out, PUTROOTFH4res{});
  });
  EXPECT_EQ(first(file), "server: RFC 8881 section 16.2.2");
}

}  // namespace
}  // namespace nfsrdma::lab::test
