// What becomes of the Payload stream: the server can rebuild it, and only eligible items leave it.
#include <gtest/gtest.h>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

class PayloadStream : public testing::Test {
 protected:
  void SetUp() override { harness_.connect(); }

  Buffer filled(std::size_t bytes) {
    Buffer buffer = harness_.data->acquire();
    const Bytes fill = pattern(bytes);
    std::copy(fill.begin(), fill.end(), buffer.data());
    return buffer;
  }
  std::unique_ptr<Seen> sent(std::size_t index = 0) {
    return parse(harness_.peer().sent(index).bytes);
  }

  Harness harness_;
};

// V1-6.1-4, V1-3.4.1-1, V1-3.4.5-7: reduced stream and chunk decode to what was encoded.
TEST_F(PayloadStream, ServerRebuildsIt) {
  TestCall call(harness_, 1);
  Buffer data = filled(9001);
  call.call.encoder.string("before");
  call.call.encoder.payload(data.first(9001));
  call.call.encoder.string("after");
  call.submit();
  const auto seen = sent();
  const auto& entry = seen->header.chunks.read_entries[0];
  const auto fetched = harness_.peer().remote_read(entry.target);
  ASSERT_TRUE(fetched);
  const xdr::PlacedItem item{.offset = entry.position, .data = *fetched};
  xdr::Decoder in(seen->payload);
  in.place_at_offsets({&item, 1});
  in.raw(kRpcCallHeader, "header");
  EXPECT_EQ(in.string(16, "before"), "before");
  const auto payload = in.payload(1U << 20, "data");
  EXPECT_TRUE(payload.placed);
  EXPECT_EQ(Bytes(payload.data.begin(), payload.data.end()), pattern(9001));
  EXPECT_EQ(in.string(16, "after"), "after");
  EXPECT_TRUE(in.finish("call"));
  harness_.answer(0);
}

// V1-3.4.4-4, V1-3.4.4-5: the presence word of optional data and the count of an array stay; the
// elements move whole, with the counts inside them.
TEST_F(PayloadStream, PresenceAndOuterCountStay) {
  TestCall call(harness_, 1);
  Buffer data = filled(9000);
  xdr::Encoder nested(data.first(8));
  nested.u32(2);  // an inner count, part of what moves
  call.call.encoder.boolean(true);
  call.call.encoder.payload(data.first(9000));
  call.submit();
  const auto seen = sent();
  xdr::Decoder rest(std::span(seen->payload).subspan(kRpcCallHeader));
  EXPECT_TRUE(rest.boolean("present"));
  EXPECT_EQ(rest.u32("count"), 9000u);
  EXPECT_EQ(rest.remaining(), 0u);
  const auto fetched = harness_.peer().remote_read(seen->header.chunks.read_entries[0].target);
  ASSERT_TRUE(fetched);
  EXPECT_EQ(xdr::Decoder(*fetched).u32("inner count"), 2u);
  harness_.answer(0);
}

// V1-8.2.2-1, V1-8.2.2-3, V1-8.2.2-4, V1-6.1-3: credentials take room in the Call and are never
// reduced; whatever they are, the same items are eligible.
TEST_F(PayloadStream, CredentialsAreNeverReduced) {
  rpc::Credential credential;
  credential.group_count = rpc::kMaxAuthSysGroups;
  const std::string machine(rpc::kMaxMachineName, 'm');
  TestCall call(harness_, 1);
  call.call.reset(1);
  rpc::encode_call_header(call.call.encoder, 1, kTestProgram, 4, 1, credential, machine);
  const std::size_t rpc_header = call.call.encoder.size();
  ASSERT_GT(rpc_header, kRpcCallHeader + 300);
  // With AUTH_NONE this would fit inline.
  const std::size_t length = 4096 - rdma::kMinHeader - kRpcCallHeader - 4;
  Buffer data = filled(length);
  call.call.encoder.payload(data.first(length));
  call.submit();
  const auto seen = sent();
  ASSERT_EQ(seen->header.chunks.read_count, 1u);
  EXPECT_EQ(seen->header.chunks.read_entries[0].position, rpc_header + 4);
  EXPECT_EQ(seen->payload.size(), rpc_header + 4);
  harness_.answer(0);
}

}  // namespace
}  // namespace nfsrdma::test
