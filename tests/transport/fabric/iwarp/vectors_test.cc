// Bytes made by hand from the RFCs against what the code writes and reads.
#include <gtest/gtest.h>

#include "tests/transport/fabric/iwarp/wire_frames.h"
#include "transport/fabric/iwarp/crc32c.h"
#include "transport/fabric/iwarp/ddp_header.h"
#include "transport/fabric/iwarp/fpdu_batch.h"
#include "transport/fabric/iwarp/mpa_frame.h"
#include "transport/fabric/iwarp/rdmap_header.h"
#include "transport/fabric/iwarp/terminate.h"
#include "transport/fabric/iwarp/transmitter.h"

namespace nfsrdma::fabric::iwarp {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::pattern;

Bytes bytes(std::initializer_list<int> values) {
  Bytes bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Bytes written(FpduBatch& batch) {
  Bytes bytes;
  for (const iovec& piece : batch.pending()) {
    const auto* from = static_cast<const std::byte*>(piece.iov_base);
    bytes.insert(bytes.end(), from, from + piece.iov_len);
  }
  return bytes;
}

TEST(Crc32cTest, CheckValue) {
  // The check value every CRC32c implementation is known by.
  Crc32c crc;
  crc.add(bytes_of("123456789"));
  EXPECT_EQ(crc.value(), 0xe3069283u);
  EXPECT_EQ(testing::wire::crc32c(bytes_of("123456789")), 0xe3069283u);
}

TEST(Crc32cTest, Rfc3720Vectors) {
  // RFC 3720 appendix B.4: 32 bytes of zeros, of ones, ascending.
  const auto crc_of = [](const Bytes& bytes) {
    Crc32c crc;
    crc.add(bytes);
    return crc.value();
  };
  EXPECT_EQ(crc_of(Bytes(32, std::byte{0})), 0x8a9136aau);
  EXPECT_EQ(crc_of(Bytes(32, std::byte{0xff})), 0x62a8ab43u);
  Bytes ascending;
  for (int i = 0; i < 32; ++i) ascending.push_back(static_cast<std::byte>(i));
  EXPECT_EQ(crc_of(ascending), 0x46dd794eu);
}

TEST(Crc32cTest, PiecesGiveTheSameAsTheWholeAndAsTheTable) {
  const Bytes data = pattern(5000);
  for (std::size_t cut : {0u, 1u, 3u, 2500u, 4999u, 5000u}) {
    Crc32c crc;
    crc.add(std::span(data).first(cut));
    crc.add(std::span(data).subspan(cut));
    EXPECT_EQ(crc.value(), testing::wire::crc32c(data)) << cut;
  }
}

// V1-2.3.2-1: 32 bits of handle, 64 bits of offset.
TEST(DdpHeaderTest, Tagged) {
  DdpHeader header;
  header.tagged = true;
  header.last = true;
  header.rdmap_control = rdmap_control(Opcode::rdma_write);
  header.stag = 0xa1b2c3d4;
  header.to = 0xfffffffffffff000;
  Bytes out(kTaggedHeader);
  encode(header, out.data());
  EXPECT_EQ(out, bytes({0xc1, 0x40, 0xa1, 0xb2, 0xc3, 0xd4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                        0xf0, 0x00}));
  const DdpHeader back = decode_ddp_header(out.data());
  EXPECT_TRUE(back.tagged && back.last);
  EXPECT_EQ(back.version, 1);
  EXPECT_EQ(back.stag, header.stag);
  EXPECT_EQ(back.to, header.to);
  header.last = false;
  encode(header, out.data());
  EXPECT_EQ(out[0], std::byte{0x81});
}

TEST(DdpHeaderTest, Untagged) {
  DdpHeader header;
  header.last = true;
  header.rdmap_control = rdmap_control(Opcode::send_invalidate);
  header.ulp_word = 0x01020304;
  header.qn = 0;
  header.msn = 0x11;
  header.mo = 0x0000ff00;
  Bytes out(kUntaggedHeader);
  encode(header, out.data());
  EXPECT_EQ(out, bytes({0x41, 0x44, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 0, 0xff, 0}));
  const DdpHeader back = decode_ddp_header(out.data());
  EXPECT_FALSE(back.tagged);
  EXPECT_EQ(back.ulp_word, header.ulp_word);
  EXPECT_EQ(back.msn, header.msn);
  EXPECT_EQ(back.mo, header.mo);
  EXPECT_EQ(decode_ddp_header_without_mo(out.data()).mo, 0u);
  header.last = false;
  encode(header, out.data());
  EXPECT_EQ(out[0], std::byte{0x01});
}

TEST(RdmapHeaderTest, ControlBytes) {
  EXPECT_EQ(rdmap_control(Opcode::rdma_write), 0x40);
  EXPECT_EQ(rdmap_control(Opcode::read_request), 0x41);
  EXPECT_EQ(rdmap_control(Opcode::read_response), 0x42);
  EXPECT_EQ(rdmap_control(Opcode::send), 0x43);
  EXPECT_EQ(rdmap_control(Opcode::send_invalidate), 0x44);
  EXPECT_EQ(rdmap_control(Opcode::terminate), 0x47);
  EXPECT_EQ(rdmap_version(0x43), 1);
  EXPECT_EQ(rdmap_opcode(0x43), Opcode::send);
  EXPECT_FALSE(is_known(rdmap_opcode(0x48)));
}

TEST(RdmapHeaderTest, ReadRequest) {
  const ReadRequest request{0x11223344, 0x0102030405060708, 0x00100000, 0xaabbccdd,
                            0xf1f2f3f4f5f6f7f8};
  Bytes out(kReadRequestHeader);
  encode(request, out.data());
  EXPECT_EQ(out, bytes({0x11, 0x22, 0x33, 0x44, 1,    2,    3,    4,    5,    6,
                        7,    8,    0,    0x10, 0,    0,    0xaa, 0xbb, 0xcc, 0xdd,
                        0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8}));
  const ReadRequest back = decode_read_request(out.data());
  EXPECT_EQ(back.sink_stag, request.sink_stag);
  EXPECT_EQ(back.sink_to, request.sink_to);
  EXPECT_EQ(back.size, request.size);
  EXPECT_EQ(back.source_stag, request.source_stag);
  EXPECT_EQ(back.source_to, request.source_to);
}

TEST(TerminateTest, EncodingAndText) {
  const TerminatePayload bare = encode_terminate(terminate::kMpaCrc, std::nullopt);
  ASSERT_EQ(bare.length, 4u);
  EXPECT_EQ(Bytes(bare.bytes.begin(), bare.bytes.begin() + 4), bytes({0x20, 0x02, 0, 0}));
  const Bytes ddp = pattern(kTaggedHeader);
  const TerminatePayload quoted =
      encode_terminate(terminate::kDdpBounds, OffendingSegment{0x0102, ddp, {}});
  ASSERT_EQ(quoted.length, 4u + 2 + kTaggedHeader);
  EXPECT_EQ(Bytes(quoted.bytes.begin(), quoted.bytes.begin() + 6),
            bytes({0x11, 0x01, 0xc0, 0, 1, 2}));
  EXPECT_TRUE(std::equal(ddp.begin(), ddp.end(), quoted.bytes.begin() + 6));
  EXPECT_EQ(decode_terminate(std::span(quoted.bytes).first(quoted.length)), terminate::kDdpBounds);
  EXPECT_EQ(decode_terminate(bytes({0x11, 0x01, 0})), std::nullopt);
  EXPECT_EQ(text(terminate::kDdpBounds),
            "DDP tagged buffer error: base or bounds violation (layer 1, type 1, code 0x01)");
  EXPECT_EQ(text({15, 15, 255}), "unlisted error (layer 15, type 15, code 0xff)");
}

TEST(FpduBatchTest, FramesAreThoseMadeByHand) {
  // Every pad length, with the pad between payload and CRC.
  for (std::size_t size = 0; size < 8; ++size) {
    const Bytes body = pattern(18 + size);
    FpduBatch batch;
    batch.begin(body.size(), std::span(body).first(18));
    batch.add_payload(std::span(body).subspan(18));
    batch.end();
    EXPECT_EQ(written(batch), testing::wire::fpdu(body)) << size;
  }
}

TEST(FpduBatchTest, WithoutCrcTheFieldIsZero) {
  const Bytes body = pattern(19);
  FpduBatch batch;
  batch.use_crc(false);
  batch.begin(body.size(), body);
  batch.end();
  EXPECT_EQ(written(batch), testing::wire::fpdu(body, false));
}

TEST(FpduBatchTest, AdvancingByAnyAmountLeavesTheRest) {
  const Bytes first = pattern(40, 1);
  const Bytes second = pattern(33, 2);
  const Bytes whole =
      testing::wire::join({testing::wire::fpdu(first), testing::wire::fpdu(second)});
  for (std::size_t step = 1; step <= whole.size(); ++step) {
    FpduBatch batch;
    for (const Bytes* body : {&first, &second}) {
      batch.begin(body->size(), std::span(*body).first(14));
      batch.add_payload(std::span(*body).subspan(14));
      batch.end();
    }
    Bytes seen;
    while (!batch.empty()) {
      const Bytes rest = written(batch);
      const std::size_t now = std::min(step, rest.size());
      seen.insert(seen.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(now));
      batch.advance(now);
    }
    EXPECT_EQ(seen, whole) << step;
  }
}

TEST(FpduBatchTest, KeepingOnlyWhatIsStartedEndsAtAFrameBoundary) {
  const Bytes body = pattern(40);
  const Bytes frame = testing::wire::fpdu(body);
  for (std::size_t sent = 0; sent <= 2 * frame.size(); ++sent) {
    FpduBatch batch;
    for (int i = 0; i < 3; ++i) {
      batch.begin(body.size(), std::span(body).first(14));
      batch.add_payload(std::span(body).subspan(14));
      batch.end();
    }
    if (sent != 0) batch.advance(sent);
    batch.keep_only_started();
    const std::size_t started = (sent + frame.size() - 1) / frame.size() * frame.size();
    EXPECT_EQ(batch.bytes(), started - sent) << sent;
    EXPECT_EQ(written(batch).size(), started - sent) << sent;
    // And another frame can follow.
    const Bytes last = pattern(22, 3);
    batch.begin(last.size(), last);
    batch.end();
    const Bytes rest = written(batch);
    const Bytes tail(rest.end() - static_cast<std::ptrdiff_t>(testing::wire::fpdu(last).size()),
                     rest.end());
    EXPECT_EQ(tail, testing::wire::fpdu(last)) << sent;
  }
}

TEST(LargestUlpduTest, FillsASegmentWithoutPad) {
  EXPECT_EQ(largest_ulpdu(1448), 1442u);
  EXPECT_EQ(largest_ulpdu(1460), 1454u);
  EXPECT_EQ(largest_ulpdu(1459), 1450u);
  for (std::size_t segment : {1448u, 1459u, 8948u, 32741u, 65483u, 70000u}) {
    const std::size_t ulpdu = largest_ulpdu(segment);
    EXPECT_EQ(fpdu_pad(ulpdu), 0u) << segment;
    EXPECT_LE(ulpdu, 65535u);
  }
  EXPECT_EQ(largest_ulpdu(8948), 8942u);
  EXPECT_EQ(largest_ulpdu(65483), 65530u);  // loopback: as large as the length field allows
  EXPECT_GE(largest_ulpdu(0), 100u);
}

Bytes bytes_of(const StartupFrame& frame) {
  const auto encoded = encode(frame);
  return Bytes(encoded.begin(), encoded.end());
}

TEST(MpaFrameTest, EnhancedRequest) {
  StartupFrame frame;
  frame.kind = StartupFrame::Kind::request;
  frame.crc = true;
  frame.revision = 2;
  frame.enhanced = EnhancedWords{};
  frame.enhanced->ird = 16;
  frame.enhanced->ord = 0x3ffe;
  const Bytes data = bytes({0xf6, 0xab, 0x0e, 0x18});
  frame.private_data.assign(data.begin(), data.end());
  Bytes expected = bytes_of("MPA ID Req Frame");
  for (std::byte byte : bytes({0x50, 2, 0, 8, 0, 16, 0x3f, 0xfe, 0xf6, 0xab, 0x0e, 0x18})) {
    expected.push_back(byte);
  }
  EXPECT_EQ(bytes_of(frame), expected);
}

TEST(MpaFrameTest, PlainRejectingReply) {
  StartupFrame frame;
  frame.kind = StartupFrame::Kind::reply;
  frame.reject = true;
  frame.revision = 1;
  Bytes expected = bytes_of("MPA ID Rep Frame");
  for (std::byte byte : bytes({0x20, 1, 0, 0})) expected.push_back(byte);
  EXPECT_EQ(bytes_of(frame), expected);
}

TEST(MpaFrameTest, PeerToPeerFlags) {
  StartupFrame frame;
  frame.revision = 2;
  frame.enhanced = EnhancedWords{1, 2, true, true, true, true};
  const Bytes out = bytes_of(frame);
  EXPECT_EQ(Bytes(out.begin() + 20, out.end()), bytes({0xc0, 1, 0xc0, 2}));
}

}  // namespace
}  // namespace nfsrdma::fabric::iwarp
