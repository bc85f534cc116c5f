// Hand-made captures of COMPOUNDs with Read chunks.
#include "tests/lab/lint/lint_fixture.h"
#include "transport/rpc/message.h"

namespace nfsrdma::lab::test {
namespace {

using namespace nfs4;

constexpr Side C = Side::client;
constexpr Side S = Side::server;
constexpr std::uint32_t kXid = 0x1000;
constexpr std::uint32_t kHandle = 0x500;
constexpr std::size_t kData = 1000;

class RpcTest : public LintFixture {
 protected:
  /// WRITE and GETATTR, without the data: up to it, and behind it.
  struct Write {
    Bytes before;
    Bytes behind;
  };
  Write make_write() {
    Bytes message(1024);
    xdr::Encoder out(message);
    rpc::encode_call_header(out, kXid, rpc::kNfsProgram, rpc::kNfsVersion4, kProcCompound, {}, "t");
    encode(out, COMPOUND4args_header{{}, kNfsMinorVersion1, 3});
    encode_operation(out, SEQUENCE4args{{}, 1, 0, 0, false});
    WRITE4args write;
    write.data.data = data;
    encode_operation(out, write);
    encode_operation(out, GETATTR4args{});
    const auto whole = out.encoded();
    const std::size_t at = out.omitted()[0].offset;
    const auto before = whole.first(at);
    const auto behind = whole.subspan(at);
    return {{before.begin(), before.end()}, {behind.begin(), behind.end()}};
  }

  void call(IwarpMaker& wire, const rdma::ChunkLists& chunks, std::span<const std::byte> before,
            std::span<const std::byte> behind) {
    rdma::Header header;
    header.rdma_xid = kXid;
    header.rdma_credit = 1;
    header.chunks = chunks;
    Bytes message(200);
    xdr::Encoder out(message);
    rdma::encode_header(out, header);
    message.resize(out.size());
    append(message, before);
    append(message, behind);
    wire.send(C, message);
  }

  void pull(IwarpMaker& wire, std::uint32_t handle, std::span<const std::byte> bytes) {
    wire.read_request(S, {7, 0, static_cast<std::uint32_t>(bytes.size()), handle, 0});
    wire.read_response(C, {7, 0}, bytes);
  }

  const Bytes data = Bytes(kData, std::byte{0x5a});
  CaptureMaker file;
};

TEST_F(RpcTest, TheDataIsTheChunk) {
  IwarpMaker wire(file);
  const Write write = make_write();
  const auto position = static_cast<std::uint32_t>(write.before.size());
  call(wire, read_chunk(position, kHandle, kData), write.before, write.behind);
  pull(wire, kHandle, data);
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_EQ(messages(), 1u);
}

// Report 14, "xprtrdma: Fix XDR tail marshalling", 677eb17e94ed of Linux.
TEST_F(RpcTest, AnOperationBehindTheDataIsInItsChunk) {
  IwarpMaker wire(file);
  const Write write = make_write();
  const auto position = static_cast<std::uint32_t>(write.before.size());
  rdma::ChunkLists chunks = read_chunk(position, kHandle, kData);
  const auto tail = static_cast<std::uint32_t>(write.behind.size());
  ASSERT_TRUE(chunks.add_read(position, {kHandle + 1, tail, 0}));
  call(wire, chunks, write.before, {});
  pull(wire, kHandle, data);
  pull(wire, kHandle + 1, write.behind);
  EXPECT_EQ(first(file), "client: RFC 8267 section 6.1 (E-8267-1)");
  EXPECT_EQ(seen, "the Read chunk at Position " + std::to_string(position) + " has " +
                      std::to_string(kData + tail) + " bytes, its item 1000: GETATTR is in it");
}

TEST_F(RpcTest, AChunkThatEndsBeforeItsItem) {
  IwarpMaker wire(file);
  const Write write = make_write();
  const auto position = static_cast<std::uint32_t>(write.before.size());
  call(wire, read_chunk(position, kHandle, kData - 4), write.before, write.behind);
  pull(wire, kHandle, std::span(data).first(kData - 4));
  EXPECT_NE(first(file), "");
}

}  // namespace
}  // namespace nfsrdma::lab::test
