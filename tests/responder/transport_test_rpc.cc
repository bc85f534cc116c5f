// The RPC layer of the responder (RFC 5531).
#include "tests/responder/responder_rig.h"
#include "tests/support/rpc_message.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kRpcXid = 0x4001;

class RpcTest : public ResponderRig {
 protected:
  /// The words of a call header with AUTH_NONE.
  static Bytes call_words(std::uint32_t rpc_version, std::uint32_t program, std::uint32_t version,
                          std::uint32_t procedure, std::uint32_t flavor = 0) {
    return words({kRpcXid, 0, rpc_version, program, version, procedure, flavor, 0, 0, 0});
  }
  Bytes answer(RawRequester& requester, std::span<const std::byte> call) {
    const auto reply = exchange(requester, assemble(message_header(kRpcXid), call));
    return {reply.message.begin(), reply.message.end()};
  }
};

constexpr std::uint32_t kNfs = rpc::kNfsProgram;

// V1-9-2, B4-8-1
TEST_F(RpcTest, NullProcedureIsAnsweredWithoutTheService) {
  auto& requester = connect();
  EXPECT_EQ(answer(requester, call_words(2, kNfs, 4, 0)), words({kRpcXid, 1, 0, 0, 0, 0}));
  EXPECT_EQ(service.calls, 0);
}

// RFC 5531 section 9; B4-8-1
TEST_F(RpcTest, UnknownProgramsVersionsAndProceduresAreNamed) {
  auto& requester = connect();
  EXPECT_EQ(answer(requester, call_words(2, 100005, 4, 1)), words({kRpcXid, 1, 0, 0, 0, 1}));
  EXPECT_EQ(answer(requester, call_words(2, kNfs, 3, 1)), words({kRpcXid, 1, 0, 0, 0, 2, 4, 4}));
  EXPECT_EQ(answer(requester, call_words(2, kNfs, 4, 2)), words({kRpcXid, 1, 0, 0, 0, 3}));
  EXPECT_EQ(answer(requester, call_words(3, kNfs, 4, 1)), words({kRpcXid, 1, 1, 0, 2, 2}));
  EXPECT_EQ(service.calls, 0);
}

// RFC 5531 section 9: AUTH_BADCRED for flavors this server has not, and broken AUTH_SYS.
TEST_F(RpcTest, UnusableCredentialsAreDenied) {
  auto& requester = connect();
  const auto denied = words({kRpcXid, 1, 1, 1, 1});
  EXPECT_EQ(answer(requester, call_words(2, kNfs, 4, 1, 6)), denied);
  EXPECT_EQ(answer(requester, call_words(2, kNfs, 4, 1, 77)), denied);
  EXPECT_EQ(answer(requester, call_words(2, kNfs, 4, 1, 1)), denied);  // empty AUTH_SYS body
  EXPECT_EQ(service.calls, 0);
  EXPECT_EQ(answer(requester, call_words(2, kNfs, 4, 1, 0)), words({kRpcXid, 1, 0, 0, 0, 0}));
  EXPECT_EQ(service.calls, 1);
}

// V1-4.5.2-2
TEST_F(RpcTest, TruncatedRpcHeaderIsGarbage) {
  auto& requester = connect();
  const auto whole = call_words(2, kNfs, 4, 1);
  const auto garbage = words({kRpcXid, 1, 0, 0, 0, 4});
  for (std::size_t size = 8; size < whole.size(); size += 4) {
    EXPECT_EQ(answer(requester, std::span(whole).first(size)), garbage) << size;
  }
}

// V1-4.5.2-2: arguments that the service cannot decode.
TEST_F(RpcTest, ServiceDecidesOnGarbageArguments) {
  auto& requester = connect();
  service.on_call = [](ServerCall& call) {
    call.results().u32(5);
    call.reply(rpc::AcceptStat::garbage_args);
  };
  EXPECT_EQ(answer(requester, call_words(2, kNfs, 4, 1)), words({kRpcXid, 1, 0, 0, 0, 4}));
}

TEST_F(RpcTest, ServiceSeesTheCallersCredential) {
  auto& requester = connect();
  rpc::Credential seen;
  service.on_call = [&](ServerCall& call) {
    seen = call.header().credential;
    call.reply(rpc::AcceptStat::success);
  };
  Bytes bytes(rpc::max_call_header());
  xdr::Encoder out(bytes);
  rpc::Credential credential;
  credential.uid = 1000;
  credential.gid = 1001;
  credential.groups[0] = 1002;
  credential.group_count = 1;
  rpc::encode_call_header(out, kRpcXid, kNfs, 4, 1, credential, "host");
  EXPECT_TRUE(exchange(requester, assemble(message_header(kRpcXid), out.encoded())).results());
  EXPECT_EQ(seen.uid, 1000U);
  EXPECT_EQ(seen.gid, 1001U);
  ASSERT_EQ(seen.group_list().size(), 1U);
  EXPECT_EQ(seen.group_list()[0], 1002U);
}

// A reply larger than its buffer is the service's defect; the client gets SYSTEM_ERR.
TEST_F(RpcTest, ResultsThatDoNotFitBecomeSystemError) {
  auto& requester = connect();
  service.on_call = [](ServerCall& call) {
    call.results().reserve(kMaxReplyMessage);
    call.reply(rpc::AcceptStat::success);
  };
  EXPECT_EQ(answer(requester, call_words(2, kNfs, 4, 1)), words({kRpcXid, 1, 0, 0, 0, 5}));
}

// Scratch: four items a call, none above a slot's size, and none left over after the reply.
TEST_F(RpcTest, ScratchIsBoundedAndComesBack) {
  auto& requester = connect();
  service.on_call = [this](ServerCall& call) {
    EXPECT_TRUE(call.scratch(64 << 20).empty());
    for (int i = 0; i < 4; ++i) EXPECT_EQ(call.scratch(100).size(), 100U);
    EXPECT_TRUE(call.scratch(100).empty());
    EXPECT_EQ(pools.data->available(), pools.data->slots() - 4);
    call.reply(rpc::AcceptStat::success);
  };
  EXPECT_TRUE(exchange(requester, plain_call(kRpcXid)).results());
  run_until([&] { return pools.data->available() == pools.data->slots(); });
}

}  // namespace
}  // namespace nfsrdma::responder
