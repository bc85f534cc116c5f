// Segments of TCP in any order: each byte once, and what is missing is said.
#include "tests/lab/capture/tcp_stream.h"

#include <gtest/gtest.h>

#include <string>

namespace nfsrdma::lab {
namespace {

class Text final : public ByteConsumer {
 public:
  void on_bytes(std::span<const std::byte> bytes, Moment) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void on_gap(std::uint64_t bytes, Moment) override { text += "<" + std::to_string(bytes) + ">"; }
  std::string text;
};

class TcpStreamTest : public ::testing::Test {
 protected:
  void add(std::uint32_t sequence, const std::string& text, bool syn = false) {
    IpPacket packet;
    packet.tcp = TcpHeader{.sequence = sequence, .syn = syn};
    packet.payload = std::as_bytes(std::span(text));
    stream.add(packet);
  }
  Text seen;
  TcpStream stream{seen};
};

TEST_F(TcpStreamTest, PutsInOrderAndDropsWhatCameTwice) {
  add(99, "", true);
  add(103, "def");
  add(100, "abc");
  add(100, "abcdef");
  add(104, "efgh");
  EXPECT_EQ(seen.text, "abcdefgh");
}

TEST_F(TcpStreamTest, SequenceNumbersWrap) {
  add(0xfffffffd, "", true);
  add(0x00000001, "de");
  add(0xfffffffe, "abc");
  EXPECT_EQ(seen.text, "abcde");
}

TEST_F(TcpStreamTest, WhatThePeerHasAndTheCaptureHasNotIsAGap) {
  add(99, "", true);
  add(100, "abc");
  add(110, "k");
  for (int i = 0; i < TcpStream::kPatience - 1; ++i) stream.acknowledged(111, {});
  EXPECT_EQ(seen.text, "abc");
  stream.acknowledged(111, {});
  EXPECT_EQ(seen.text, "abc<7>k");
}

TEST_F(TcpStreamTest, AtTheEndWhatIsHeldComesWithItsGaps) {
  add(99, "", true);
  add(102, "c");
  add(105, "f");
  stream.finish({});
  EXPECT_EQ(seen.text, "<2>c<2>f");
}

TEST_F(TcpStreamTest, ACaptureThatBeginsLaterSaysSo) {
  add(500, "abc");
  EXPECT_EQ(seen.text, "<0>abc");
}

TEST_F(TcpStreamTest, WhatIsHeldIsBounded) {
  add(99, "", true);
  const std::string segment(60000, 'x');
  for (std::uint32_t i = 0; i < 400; ++i) add(200 + i * 60000, segment);
  EXPECT_EQ(seen.text.substr(0, 5), "<100>");
}

}  // namespace
}  // namespace nfsrdma::lab
