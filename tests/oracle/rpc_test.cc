// RPC call and reply headers against libtirpc, and against damage.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/oracle/oracle_rpc.h"
#include "tests/support/rpc_message.h"

namespace nfsrdma::oracle {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kSeed = 5531;
constexpr int kMessages = 300;
constexpr std::size_t kRoom = 1024;
constexpr std::uint32_t kXid = 0x12345678;

struct Call {
  std::uint32_t program, version, procedure;
  rpc::Credential credential;
  std::string machine_name;
};

Call random_call(std::mt19937& engine) {
  Call call{.program = static_cast<std::uint32_t>(engine()),
            .version = static_cast<std::uint32_t>(engine()),
            .procedure = static_cast<std::uint32_t>(engine()),
            .credential = {},
            .machine_name = std::string(engine() % (rpc::kMaxMachineName + 1), 'm')};
  call.credential.flavor = engine() % 4 == 0 ? rpc::AuthFlavor::none : rpc::AuthFlavor::sys;
  call.credential.uid = static_cast<std::uint32_t>(engine());
  call.credential.gid = static_cast<std::uint32_t>(engine());
  call.credential.group_count = engine() % (rpc::kMaxAuthSysGroups + 1);
  for (std::uint32_t i = 0; i < call.credential.group_count; ++i) {
    call.credential.groups[i] = static_cast<std::uint32_t>(engine());
  }
  return call;
}

Bytes ours(const Call& call) {
  Bytes memory(kRoom);
  xdr::Encoder out(memory);
  rpc::encode_call_header(out, kXid, call.program, call.version, call.procedure, call.credential,
                          call.machine_name);
  EXPECT_TRUE(out.ok());
  memory.resize(out.size());
  return memory;
}

Bytes theirs(const Call& call) {
  oracle_credential credential{};
  credential.sys = call.credential.flavor == rpc::AuthFlavor::sys;
  credential.machine_name = call.machine_name.c_str();
  credential.uid = call.credential.uid;
  credential.gid = call.credential.gid;
  credential.gid_count = call.credential.group_count;
  std::ranges::copy(call.credential.group_list(), credential.gids);
  Bytes memory(kRoom);
  memory.resize(oracle_rpc_call(kXid, call.program, call.version, call.procedure, &credential,
                                memory.data(), memory.size()));
  return memory;
}

TEST(RpcCallOracle, HeadersAreWhatLibtirpcWrites) {
  std::mt19937 engine(kSeed);
  for (int i = 0; i < kMessages; ++i) {
    const Call call = random_call(engine);
    const Bytes bytes = ours(call);
    EXPECT_EQ(bytes, theirs(call));
    EXPECT_LE(bytes.size(), rpc::max_call_header());
  }
}

TEST(RpcCallOracle, WhatLibtirpcWroteIsDecoded) {
  std::mt19937 engine(kSeed);
  for (int i = 0; i < kMessages; ++i) {
    const Call call = random_call(engine);
    const Bytes bytes = theirs(call);
    xdr::Decoder in(bytes);
    const auto header = rpc::decode_call_header(in);
    ASSERT_TRUE(header) << header.error().message();
    EXPECT_EQ(in.remaining(), 0U);
    EXPECT_EQ(header->xid, kXid);
    EXPECT_EQ(header->program, call.program);
    EXPECT_EQ(header->version, call.version);
    EXPECT_EQ(header->procedure, call.procedure);
    EXPECT_EQ(header->raw_flavor, call.credential.flavor);
    ASSERT_EQ(header->credential.flavor, call.credential.flavor);
    if (call.credential.flavor == rpc::AuthFlavor::none) continue;
    EXPECT_EQ(header->credential.uid, call.credential.uid);
    EXPECT_EQ(header->credential.gid, call.credential.gid);
    EXPECT_TRUE(std::ranges::equal(header->credential.group_list(), call.credential.group_list()));
  }
}

TEST(RpcCall, EveryTruncationIsAnError) {
  std::mt19937 engine(kSeed);
  const Bytes whole = ours(random_call(engine));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Bytes shorter(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    xdr::Decoder in(shorter);
    EXPECT_FALSE(rpc::decode_call_header(in)) << "cut to " << length;
  }
}

TEST(RpcCall, DamagedBytesAreSurvivedAndBoundsHold) {
  std::mt19937 engine(kSeed);
  int errors = 0;
  for (int i = 0; i < kMessages / 10; ++i) {
    const Bytes whole = ours(random_call(engine));
    for (std::size_t at = 0; at < whole.size(); ++at) {
      Bytes damaged = whole;
      damaged[at] ^= std::byte{0xff};
      xdr::Decoder in(damaged);
      const auto header = rpc::decode_call_header(in);
      errors += header ? 0 : 1;
      if (header) {
        ASSERT_LE(header->credential.group_count, rpc::kMaxAuthSysGroups);
      }
    }
  }
  EXPECT_GT(errors, 0);
}

/// What an encoder wrote into fresh memory.
template <class Encode>
Bytes encoded(Encode&& encode) {
  Bytes memory(kRoom);
  xdr::Encoder out(memory);
  encode(out);
  memory.resize(out.size());
  return memory;
}

template <class Encode>
Bytes from_libtirpc(Encode&& encode) {
  Bytes memory(kRoom);
  memory.resize(encode(memory.data(), memory.size()));
  return memory;
}

TEST(RpcReplyOracle, AcceptedRepliesAreWhatLibtirpcWrites) {
  for (std::uint32_t status = 0; status <= 5; ++status) {
    const auto stat = static_cast<rpc::AcceptStat>(status);
    const Bytes bytes = encoded([&](xdr::Encoder& out) {
      if (stat == rpc::AcceptStat::prog_mismatch) {
        rpc::encode_prog_mismatch(out, kXid, 3, 4);
      } else {
        rpc::encode_accepted_reply(out, kXid, stat);
      }
    });
    EXPECT_EQ(bytes, from_libtirpc([&](void* memory, std::size_t room) {
                return oracle_rpc_accepted(kXid, status, 3, 4, memory, room);
              }))
        << status;
    if (stat == rpc::AcceptStat::success) {
      EXPECT_EQ(bytes.size(), rpc::kAcceptedReplyHeader);
    }
  }
}

TEST(RpcReplyOracle, DeniedRepliesAreWhatLibtirpcWrites) {
  constexpr std::uint32_t kAuthTooWeak = 5;
  EXPECT_EQ(encoded([](xdr::Encoder& out) { rpc::encode_auth_error(out, kXid, kAuthTooWeak); }),
            from_libtirpc([](void* memory, std::size_t room) {
              return oracle_rpc_auth_error(kXid, kAuthTooWeak, memory, room);
            }));
  EXPECT_EQ(encoded([](xdr::Encoder& out) { rpc::encode_rpc_mismatch(out, kXid); }),
            from_libtirpc([](void* memory, std::size_t room) {
              return oracle_rpc_mismatch(kXid, rpc::kRpcVersion, rpc::kRpcVersion, memory, room);
            }));
}

struct ReplyCase {
  std::uint32_t accept_stat;
  rpc::Fault fault;
};

TEST(RpcReplyOracle, StatusesOfLibtirpcsRepliesAreToldApart) {
  constexpr ReplyCase kCases[] = {
      {1, rpc::Fault::prog_unavail}, {2, rpc::Fault::prog_mismatch}, {3, rpc::Fault::proc_unavail},
      {4, rpc::Fault::garbage_args}, {5, rpc::Fault::system_err},
  };
  for (const auto& expected : kCases) {
    const Bytes bytes = from_libtirpc([&](void* memory, std::size_t room) {
      return oracle_rpc_accepted(kXid, expected.accept_stat, 3, 4, memory, room);
    });
    xdr::Decoder in(bytes);
    const auto result = rpc::decode_reply_header(in, kXid);
    ASSERT_FALSE(result);
    EXPECT_TRUE(result.error().is(Layer::rpc, static_cast<int>(expected.fault)))
        << result.error().message();
  }
}

TEST(RpcReplyOracle, DenialsOfLibtirpcAreToldApart) {
  const Bytes auth = from_libtirpc(
      [](void* memory, std::size_t room) { return oracle_rpc_auth_error(kXid, 5, memory, room); });
  xdr::Decoder auth_in(auth);
  const auto auth_result = rpc::decode_reply_header(auth_in, kXid);
  ASSERT_FALSE(auth_result);
  EXPECT_TRUE(auth_result.error().is(Layer::rpc, static_cast<int>(rpc::Fault::auth_error)));
  EXPECT_NE(auth_result.error().detail.find('5'), std::string::npos);

  const Bytes mismatch = from_libtirpc(
      [](void* memory, std::size_t room) { return oracle_rpc_mismatch(kXid, 2, 2, memory, room); });
  xdr::Decoder mismatch_in(mismatch);
  const auto mismatch_result = rpc::decode_reply_header(mismatch_in, kXid);
  ASSERT_FALSE(mismatch_result);
  EXPECT_TRUE(mismatch_result.error().is(Layer::rpc, static_cast<int>(rpc::Fault::rpc_mismatch)));
}

TEST(RpcReply, SuccessLeavesTheDecoderAtTheResults) {
  const Bytes bytes = encoded([](xdr::Encoder& out) {
    rpc::encode_accepted_reply(out, kXid, rpc::AcceptStat::success);
    out.u32(42);
  });
  xdr::Decoder in(bytes);
  ASSERT_TRUE(rpc::decode_reply_header(in, kXid));
  EXPECT_EQ(in.u32("result"), 42U);
}

TEST(RpcReply, OfAnotherXidOrCutShortIsAnError) {
  const Bytes whole = encoded(
      [](xdr::Encoder& out) { rpc::encode_accepted_reply(out, kXid, rpc::AcceptStat::success); });
  xdr::Decoder other(whole);
  EXPECT_FALSE(rpc::decode_reply_header(other, kXid + 1));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Bytes shorter(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    xdr::Decoder in(shorter);
    EXPECT_FALSE(rpc::decode_reply_header(in, kXid)) << "cut to " << length;
  }
}

}  // namespace
}  // namespace nfsrdma::oracle
