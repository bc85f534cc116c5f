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
  IpPacket packet(std::uint32_t sequence, const std::string& text, bool syn = false) {
    IpPacket made;
    made.tcp = TcpHeader{.sequence = sequence, .syn = syn};
    made.payload = std::as_bytes(std::span(text));
    return made;
  }
  void add(std::uint32_t sequence, const std::string& text, bool syn = false) {
    streams.add(Side::client, packet(sequence, text, syn));
  }
  /// From the other side, with what it has of the first.
  void answer(std::uint32_t sequence, const std::string& text, std::uint32_t acknowledged = 0) {
    IpPacket made = packet(sequence, text, text.empty() && acknowledged == 0);
    made.tcp->ack = acknowledged != 0;
    made.tcp->acknowledged = acknowledged;
    streams.add(Side::server, made);
  }
  Text seen;
  TcpStreams streams{seen, seen};
};

TEST_F(TcpStreamTest, PutsInOrderAndDropsWhatCameTwice) {
  add(99, "", true);
  add(103, "def");
  add(100, "abc");
  add(100, "abcdef");
  add(104, "efgh");
  EXPECT_EQ(seen.text, "abcdefgh");
}

TEST_F(TcpStreamTest, SeveralInAnyOrder) {
  add(99, "", true);
  for (const std::uint32_t at : {4u, 2u, 5u, 1u, 3u, 0u}) {
    add(100 + at, std::string(1, static_cast<char>('a' + at)));
  }
  EXPECT_EQ(seen.text, "abcdef");
}

TEST_F(TcpStreamTest, SequenceNumbersWrap) {
  add(0xfffffffd, "", true);
  add(0x00000001, "de");
  add(0xfffffffe, "abc");
  EXPECT_EQ(seen.text, "abcde");
}

// The answer to what is missing is not handed over before it.
TEST_F(TcpStreamTest, TheOtherSideWaitsToo) {
  add(99, "", true);
  answer(499, "");
  add(103, "def");
  answer(500, "1");
  add(106, "g");
  answer(501, "2");
  EXPECT_EQ(seen.text, "");
  add(100, "abc");
  EXPECT_EQ(seen.text, "abcdef1g2");
}

// What a side says that has heard what the capture has not waits, before the hole shows by
// itself.
TEST_F(TcpStreamTest, AnAcknowledgementTellsOfAHole) {
  add(99, "", true);
  answer(499, "");
  add(100, "abc");
  answer(500, "1", 107);
  EXPECT_EQ(seen.text, "abc");
  add(103, "defg");
  EXPECT_EQ(seen.text, "abcdefg1");
  answer(501, "2", 110);
  add(110, "k");
  streams.finish({});
  EXPECT_EQ(seen.text, "abcdefg1<3>2k");
}

// Acknowledgements that lie, each of what the other has not said.
TEST_F(TcpStreamTest, SidesThatWaitForEachOtherGoOn) {
  add(99, "", true);
  answer(499, "");
  const std::string said = "a";
  IpPacket lie = packet(100, said);
  lie.tcp->ack = true;
  lie.tcp->acknowledged = 900;
  streams.add(Side::client, lie);
  answer(600, "6", 300);
  streams.finish({});
  EXPECT_EQ(seen.text, "<100><300>a<199>");
}

TEST_F(TcpStreamTest, WhatThePeerHasAndTheCaptureHasNotIsAGap) {
  add(99, "", true);
  answer(499, "");
  add(100, "abc");
  add(110, "k");
  answer(500, "1", 111);
  for (std::size_t i = 2; i < TcpStreams::kPatience; ++i) answer(501, "", 111);
  EXPECT_EQ(seen.text, "abc");
  answer(501, "", 111);
  EXPECT_EQ(seen.text, "abc<7>k1");
}

TEST_F(TcpStreamTest, AtTheEndWhatIsHeldComesWithItsGaps) {
  add(99, "", true);
  add(102, "c");
  add(105, "f");
  streams.finish({});
  EXPECT_EQ(seen.text, "<2>c<2>f");
}

TEST_F(TcpStreamTest, HolesOfBothSides) {
  add(99, "", true);
  answer(499, "");
  add(102, "c");
  answer(502, "3");
  add(101, "b");
  answer(501, "2");
  streams.finish({});
  EXPECT_EQ(seen.text, "<1>bc<1>23");
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
