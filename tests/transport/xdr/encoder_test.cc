#include "transport/xdr/encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "transport/xdr/decoder.h"

namespace nfsrdma::xdr {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 0xf];
  }
  return text;
}

class EncoderTest : public testing::Test {
 protected:
  EncoderTest() { memory_.fill(std::byte{0xee}); }

  std::array<std::byte, 64> memory_;
  Encoder out_{memory_};
};

TEST_F(EncoderTest, WritesNumbersBigEndian) {
  out_.u32(0x01020304);
  out_.i32(-2);
  out_.u64(0x0102030405060708);
  out_.i64(-1);
  out_.boolean(true);
  out_.boolean(false);
  EXPECT_TRUE(out_.ok());
  EXPECT_EQ(hex(out_.encoded()),
            "01020304fffffffe0102030405060708ffffffffffffffff0000000100000000");
}

// V1-2.2.4-1: the stream stays a multiple of four, the length word does not count the pad, the pad
// is zero, and a decoder hands out no pad.
TEST_F(EncoderTest, PadsVariableLengthItemsWithZerosToAMultipleOfFour) {
  constexpr std::string_view kText = "abcdefgh";
  for (std::size_t length = 0; length <= kText.size(); ++length) {
    SCOPED_TRACE(length);
    memory_.fill(std::byte{0xee});
    Encoder out(memory_);
    out.string(kText.substr(0, length));
    ASSERT_TRUE(out.ok());
    EXPECT_EQ(out.size(), kUnit + (length + 3) / 4 * 4);
    const auto pad = out.encoded().subspan(kUnit + length);
    EXPECT_TRUE(std::ranges::all_of(pad, [](std::byte byte) { return byte == std::byte{0}; }));
    Decoder in(out.encoded());
    EXPECT_EQ(Decoder(out.encoded()).u32("length"), length);
    EXPECT_EQ(in.string(kText.size(), "text"), kText.substr(0, length));
    EXPECT_TRUE(in.finish("item"));
  }
}

TEST_F(EncoderTest, WritesFixedOpaquesWithoutALength) {
  constexpr std::array kBytes = {std::byte{1}, std::byte{2}, std::byte{3}};
  out_.fixed(kBytes);
  EXPECT_EQ(hex(out_.encoded()), "01020300");
}

TEST_F(EncoderTest, LeavesPayloadsOutAndRemembersWhereTheyBelong) {
  const std::vector<std::byte> data(5, std::byte{0x77});
  out_.u32(1);
  out_.payload(data);
  out_.u32(2);
  EXPECT_EQ(hex(out_.encoded()), "000000010000000500000002");
  ASSERT_EQ(out_.omitted().size(), 1U);
  EXPECT_EQ(out_.omitted()[0].offset, 8U);
  EXPECT_EQ(out_.omitted()[0].data.data(), data.data());
  EXPECT_EQ(out_.omitted()[0].data.size(), data.size());
}

TEST_F(EncoderTest, DoesNotListEmptyPayloadsUnlessAsked) {
  out_.payload({});
  EXPECT_TRUE(out_.omitted().empty());
  out_.keep_empty_items();
  out_.payload({});
  EXPECT_EQ(out_.omitted().size(), 1U);
  EXPECT_EQ(hex(out_.encoded()), "0000000000000000");
}

TEST_F(EncoderTest, FailsWhenThereAreMorePayloadsThanItCanList) {
  const std::vector<std::byte> data(4);
  for (std::size_t i = 0; i < Encoder::kMaxOmitted; ++i) out_.payload(data);
  EXPECT_TRUE(out_.ok());
  out_.payload(data);
  EXPECT_FALSE(out_.ok());
}

TEST_F(EncoderTest, PatchesAPlaceholderLater) {
  const std::size_t count_at = out_.placeholder();
  out_.u32(7);
  out_.patch(count_at, 0x01020304);
  EXPECT_EQ(hex(out_.encoded()), "0102030400000007");
}

// The first item that does not fit puts the encoder into a failed state that stays, and nothing is
// written beyond the memory.
TEST_F(EncoderTest, NeverWritesPastItsEndAndStaysFailed) {
  for (std::size_t room = 0; room < 24; ++room) {
    SCOPED_TRACE(room);
    memory_.fill(std::byte{0xee});
    Encoder out{std::span(memory_).first(room)};
    out.u64(1);
    out.string("abcde");
    out.u32(2);
    EXPECT_FALSE(out.ok());
    EXPECT_LE(out.size(), room);
    out.boolean(true);
    EXPECT_FALSE(out.ok());
    const auto beyond = std::span(memory_).subspan(room);
    EXPECT_TRUE(std::ranges::all_of(beyond, [](std::byte b) { return b == std::byte{0xee}; }));
  }
  Encoder whole{std::span(memory_).first(24)};
  whole.u64(1);
  whole.string("abcde");
  whole.u32(2);
  EXPECT_TRUE(whole.ok());
}

TEST_F(EncoderTest, RewindTakesBackBytesPayloadsAndTheFailure) {
  const std::vector<std::byte> data(100);
  out_.u32(1);
  out_.payload(data);
  const std::size_t mark = out_.size();
  out_.payload(data);
  out_.opaque(data);  // does not fit
  EXPECT_FALSE(out_.ok());
  out_.rewind(mark);
  EXPECT_TRUE(out_.ok());
  EXPECT_EQ(out_.size(), mark);
  EXPECT_EQ(out_.omitted().size(), 1U);
  out_.u32(9);
  EXPECT_EQ(hex(out_.encoded()), "000000010000006400000009");
}

TEST_F(EncoderTest, ReservesSpaceForTheCallerToFill) {
  std::byte* place = out_.reserve(8);
  ASSERT_NE(place, nullptr);
  std::fill_n(place, 8, std::byte{0x11});
  EXPECT_EQ(hex(out_.encoded()), "1111111111111111");
  EXPECT_EQ(out_.reserve(memory_.size()), nullptr);
  EXPECT_FALSE(out_.ok());
}

}  // namespace
}  // namespace nfsrdma::xdr
