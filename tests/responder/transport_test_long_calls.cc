// Long Calls: the whole message in a Position Zero Read chunk (RFC 8166 section 3.5.3).
#include "tests/responder/read_chunk_fixture.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kLongCallsXid = kReadChunkXid;

class LongCallTest : public ReadChunkTest {
 protected:
  /// A Long Call of `call`, its Position Zero chunk in `pieces` segments.
  rdma::Header long_header(RawRequester& requester, std::span<const std::byte> call,
                           std::uint32_t pieces) {
    auto& memory = expose(requester, call);
    rdma::Header header = message_header(kLongCallsXid);
    header.proc = rdma::RDMA_NOMSG;
    const auto size = static_cast<std::uint32_t>(call.size());
    for (std::uint32_t i = 0; i < pieces; ++i) {
      const auto from = size * i / pieces;
      header.chunks.add_read(0, memory.part(from, size * (i + 1) / pieces - from));
    }
    return header;
  }
};

// V1-3.5.3-4, V1-3.5.3-2, V1-4.2.4-3, D05-5.1-1
TEST_F(LongCallTest, EvenATinyCallMayBeLong) {
  auto& requester = connect();
  for (const std::uint32_t pieces : {1U, 3U}) {
    const auto null_call = rpc_call(kLongCallsXid, {}, 0);
    EXPECT_TRUE(exchange(requester, assemble(long_header(requester, null_call, pieces))).results());
  }
  EXPECT_EQ(counters().long_calls.value(), 2U);
}

// V1-3.5.3-1, V1-3.5.3-6, V1-3.5.3-7, V1-6.1-3: a long item that is not eligible, with its pad.
TEST_F(LongCallTest, LongCallCarriesAnyItem) {
  auto& requester = connect(std::nullopt);
  const auto name = pattern(5001, 6);
  service.on_call = [&](ServerCall& call) {
    const auto data = call.arguments().opaque(kReadBound, "name");
    EXPECT_EQ(Bytes(data.begin(), data.end()), name);
    EXPECT_EQ(call.arguments().u32("word"), 77U);
    call.reply(rpc::AcceptStat::success);
  };
  Bytes arguments = words({5001});
  arguments.insert(arguments.end(), name.begin(), name.end());
  arguments.resize(4 + xdr::padded(5001));
  const auto word = words({77});
  arguments.insert(arguments.end(), word.begin(), word.end());
  const auto header = long_header(requester, rpc_call(kLongCallsXid, arguments), 4);
  EXPECT_TRUE(exchange(requester, assemble(header)).results());
  EXPECT_EQ(service.calls, 1);
}

// V1-3.5.3-8, E-8267-10: Position Zero and another Read chunk in one call, in either order.
TEST_F(LongCallTest, EligibleItemMayLeaveALongCallByItsOwnChunk) {
  auto& requester = connect();
  take_payloads(2);
  const auto data = pattern(9);
  const auto inline_data = pattern(6, 5);
  Bytes arguments = words({9, 71, 6});
  arguments.insert(arguments.end(), inline_data.begin(), inline_data.end());
  arguments.resize(12 + 8);
  const auto word = words({72});
  arguments.insert(arguments.end(), word.begin(), word.end());
  for (const bool zero_first : {true, false}) {
    auto& memory = expose(requester, data);
    rdma::Header header = message_header(kLongCallsXid);
    if (zero_first) header = long_header(requester, rpc_call(kLongCallsXid, arguments), 2);
    header.chunks.add_read(arguments_at() + 4, memory.segment());
    if (!zero_first) {
      const auto zero = long_header(requester, rpc_call(kLongCallsXid, arguments), 1);
      header.proc = rdma::RDMA_NOMSG;
      header.chunks.add_read(0, zero.chunks.rdma_reads()[0].target);
    }
    EXPECT_TRUE(exchange(requester, assemble(header)).results());
    ASSERT_EQ(taken.size(), 2U);
    EXPECT_EQ(taken[0], data);
    EXPECT_EQ(taken[1], inline_data);
    EXPECT_EQ(behind, 72U);
  }
}

// V1-4.5.2-1: the XID inside the chunk is compared as well; a chunk with less than an RPC header,
// and a Position Zero chunk in a message that has its Payload inline.
TEST_F(LongCallTest, BadLongCallsAreAnsweredErrChunk) {
  auto& requester = connect();
  expect_error(requester, assemble(long_header(requester, rpc_call(kLongCallsXid + 1), 1)),
               rdma::ERR_CHUNK);
  expect_error(requester, assemble(long_header(requester, words({kLongCallsXid}), 1)),
               rdma::ERR_CHUNK);
  rdma::Header empty = message_header(kLongCallsXid);
  empty.proc = rdma::RDMA_NOMSG;
  empty.chunks.add_read(0, {1, 0, 0});
  expect_error(requester, assemble(empty), rdma::ERR_CHUNK);
  rdma::Header both = long_header(requester, rpc_call(kLongCallsXid), 1);
  both.proc = rdma::RDMA_MSG;
  expect_error(requester, assemble(both, rpc_call(kLongCallsXid)), rdma::ERR_CHUNK);
  EXPECT_EQ(service.calls, 0);
}

}  // namespace
}  // namespace nfsrdma::responder
