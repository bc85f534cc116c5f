#include "transport/xdr/decoder.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

namespace nfsrdma::xdr {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kBound = 1024;

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(Decoder, ReadsNumbers) {
  const Bytes message = bytes({1, 2, 3,    4,    0xff, 0xff, 0xff, 0xfe, 0,    0,    0, 1, 0, 0,
                               0, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1});
  Decoder in(message);
  EXPECT_EQ(in.u32("a"), 0x01020304U);
  EXPECT_EQ(in.i32("b"), -2);
  EXPECT_EQ(in.u64("c"), 0x0000000100000002U);
  EXPECT_EQ(in.i64("d"), -1);
  EXPECT_TRUE(in.boolean("e"));
  EXPECT_TRUE(in.finish("message"));
}

struct FaultCase {
  const char* name;
  Bytes message;
  void (*read)(Decoder&);
  Fault fault;
  std::size_t offset;
};

class DecoderFault : public testing::TestWithParam<FaultCase> {};

TEST_P(DecoderFault, IsFoundWithItsPlaceAndField) {
  const auto& expected = GetParam();
  Decoder in(expected.message);
  expected.read(in);
  EXPECT_EQ(in.fault(), expected.fault);
  const Error error = in.error("TEST");
  EXPECT_EQ(error.layer, Layer::decode);
  EXPECT_EQ(error.detail, "field at offset " + std::to_string(expected.offset));
  EXPECT_FALSE(in.status("TEST"));
  // The first fault stays; later reads give zeros and empty views.
  EXPECT_EQ(in.u32("later"), 0U);
  EXPECT_TRUE(in.opaque(kBound, "later").empty());
  in.set_fault(Fault::unexpected, "later");
  EXPECT_EQ(in.fault(), expected.fault);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, DecoderFault,
    testing::Values(FaultCase{"NumberCutShort", bytes({0, 0, 0}),
                              [](Decoder& in) { in.u32("field"); }, Fault::truncated, 0},
                    FaultCase{"SecondHalfOfALongNumberMissing", bytes({0, 0, 0, 1}),
                              [](Decoder& in) { in.u64("field"); }, Fault::truncated, 4},
                    FaultCase{"OpaqueCutShort", bytes({0, 0, 0, 5, 1, 2, 3, 4}),
                              [](Decoder& in) { in.opaque(kBound, "field"); }, Fault::truncated, 4},
                    FaultCase{"PadCutShort", bytes({0, 0, 0, 2, 1, 2, 0}),
                              [](Decoder& in) { in.opaque(kBound, "field"); }, Fault::truncated, 6},
                    FaultCase{"PadNotZero", bytes({0, 0, 0, 2, 1, 2, 0, 1}),
                              [](Decoder& in) { in.opaque(kBound, "field"); }, Fault::bad_pad, 8},
                    FaultCase{"LongerThanItsBound", bytes({0, 0, 0, 3, 1, 2, 3, 0}),
                              [](Decoder& in) { in.opaque(2, "field"); }, Fault::too_long, 4},
                    FaultCase{"AbsurdLength", bytes({0xff, 0xff, 0xff, 0xff}),
                              [](Decoder& in) { in.opaque(SIZE_MAX, "field"); }, Fault::truncated,
                              4},
                    FaultCase{"NeitherTrueNorFalse", bytes({0, 0, 0, 2}),
                              [](Decoder& in) { in.boolean("field"); }, Fault::bad_boolean, 4},
                    FaultCase{"MoreElementsThanAllowed",
                              bytes({0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
                              [](Decoder& in) { in.count(2, 4, "field"); }, Fault::too_long, 4},
                    FaultCase{"MoreElementsThanTheMessageCanHold", bytes({0, 0, 0, 3, 0, 0, 0, 0}),
                              [](Decoder& in) { in.count(kBound, 4, "field"); }, Fault::too_long,
                              4},
                    FaultCase{"RawCutShort", bytes({1, 2}), [](Decoder& in) { in.raw(3, "field"); },
                              Fault::truncated, 0},
                    FaultCase{"PayloadLongerThanItsBound", bytes({0, 0, 0, 9}),
                              [](Decoder& in) { in.payload(8, "field"); }, Fault::too_long, 4}),
    [](const auto& kind) { return kind.param.name; });

TEST(Decoder, BytesLeftOverAreAFaultOfFinish) {
  const Bytes message = bytes({0, 0, 0, 1, 9});
  Decoder in(message);
  in.u32("one");
  const auto result = in.finish("TEST");
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().is(Layer::decode, static_cast<int>(Fault::trailing)));
}

TEST(Decoder, FaultsHaveTheirOwnNames) {
  EXPECT_EQ(fault_name(static_cast<int>(Fault::truncated)), "runs past the end of the message");
  EXPECT_EQ(fault_name(static_cast<int>(Fault::placed_length)),
            "inline count and placed length disagree");
  EXPECT_EQ(fault_name(1000), "unknown fault");
}

TEST(Decoder, ViewsAreOfTheMessageItself) {
  const Bytes message = bytes({0, 0, 0, 3, 'a', 'b', 'c', 0, 1, 2});
  Decoder in(message);
  const auto text = in.string(kBound, "text");
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(static_cast<const void*>(text.data()), message.data() + 4);
  EXPECT_EQ(in.raw(2, "raw").data(), message.data() + 8);
}

TEST(DecoderPayload, WithoutAChunkIsInline) {
  const Bytes message = bytes({0, 0, 0, 3, 1, 2, 3, 0});
  Decoder in(message);
  const Payload payload = in.payload(kBound, "data");
  EXPECT_FALSE(payload.placed);
  EXPECT_EQ(payload.data.data(), message.data() + 4);
  EXPECT_EQ(payload.data.size(), 3U);
  EXPECT_TRUE(in.finish("message"));
}

/// A reply with two DDP-eligible results: 5 bytes, then 3 bytes, both reduced or inline.
class DecoderInOrder : public testing::Test {
 protected:
  const Bytes first_ = bytes({1, 2, 3, 4, 5});
  const Bytes second_ = bytes({6, 7, 8});
};

TEST_F(DecoderInOrder, PlacedItemsAreTakenOneAfterTheOther) {
  const Bytes message = bytes({0, 0, 0, 5, 0, 0, 0, 3});
  const std::array items = {PlacedItem{0, first_}, PlacedItem{0, second_}};
  Decoder in(message);
  in.place_in_order(items);
  const Payload one = in.payload(kBound, "one");
  const Payload two = in.payload(kBound, "two");
  EXPECT_TRUE(in.finish("reply"));
  EXPECT_TRUE(one.placed && two.placed);
  EXPECT_EQ(one.data.data(), first_.data());
  EXPECT_EQ(two.data.data(), second_.data());
  EXPECT_EQ(in.placed_taken(), 2U);
}

// An unused or empty chunk stands in the list: that result is inline, the next is placed.
TEST_F(DecoderInOrder, AnUnusedChunkMeansThatResultIsInline) {
  const Bytes message = bytes({0, 0, 0, 2, 9, 9, 0, 0, 0, 0, 0, 3});
  const std::array items = {PlacedItem{0, {}}, PlacedItem{0, second_}};
  Decoder in(message);
  in.place_in_order(items);
  const Payload one = in.payload(kBound, "one");
  const Payload two = in.payload(kBound, "two");
  EXPECT_TRUE(in.finish("reply"));
  EXPECT_FALSE(one.placed);
  EXPECT_EQ(one.data.size(), 2U);
  EXPECT_TRUE(two.placed);
}

TEST_F(DecoderInOrder, ResultsBeyondTheLastChunkAreInline) {
  const Bytes message = bytes({0, 0, 0, 5, 0, 0, 0, 1, 9, 0, 0, 0});
  const std::array items = {PlacedItem{0, first_}};
  Decoder in(message);
  in.place_in_order(items);
  EXPECT_TRUE(in.payload(kBound, "one").placed);
  EXPECT_FALSE(in.payload(kBound, "two").placed);
  EXPECT_TRUE(in.finish("reply"));
}

// V1-6.1-6: what no eligible result accounts for must not have been reduced.
TEST_F(DecoderInOrder, PlacedBytesThatNoResultTookAreAFaultOfFinish) {
  const Bytes message = bytes({0, 0, 0, 5});
  const std::array items = {PlacedItem{0, first_}, PlacedItem{0, second_}};
  Decoder in(message);
  in.place_in_order(items);
  EXPECT_TRUE(in.payload(kBound, "one").placed);
  const auto result = in.finish("reply");
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().is(Layer::decode, static_cast<int>(Fault::placed_length)));
}

// V1-3.4.6-10, B4-4.4.4-1: the inline count must equal what was returned in the chunk.
TEST_F(DecoderInOrder, ACountThatIsNotTheReturnedLengthIsAFault) {
  for (const int count : {0, 4, 6, 8}) {
    const Bytes message = bytes({0, 0, 0, count});
    const std::array items = {PlacedItem{0, first_}};
    Decoder in(message);
    in.place_in_order(items);
    in.payload(kBound, "data");
    EXPECT_EQ(in.fault(), Fault::placed_length) << count;
  }
}

/// A call with a reduced item of 5 bytes at offset 8 of the reduced stream, and a word behind it.
class DecoderByOffset : public testing::Test {
 protected:
  static constexpr std::size_t kOffset = 8;
  const Bytes message_ = bytes({0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 2});

  /// Decodes with `item`; the faults stay in the decoder that is returned.
  Decoder decode(const PlacedItem& item, Payload& payload) {
    Decoder in(message_);
    in.place_at_offsets({&item, 1});
    EXPECT_EQ(in.u32("before"), 1U);
    payload = in.payload(kBound, "data");
    if (in.ok()) {
      EXPECT_EQ(in.u32("after"), 2U);
    }
    return in;
  }
};

// V1-3.4.5-12: without a pad the chunk is as long as the item.
TEST_F(DecoderByOffset, AChunkWithoutPadIsTheItem) {
  const Bytes data = bytes({1, 2, 3, 4, 5});
  Payload payload;
  Decoder in = decode({kOffset, data}, payload);
  EXPECT_TRUE(in.finish("call"));
  EXPECT_TRUE(payload.placed);
  EXPECT_EQ(payload.data.size(), 5U);
  EXPECT_EQ(payload.data.data(), data.data());
}

// V1-3.4.5-11, V1-3.4.5-13: a chunk of 8 bytes for a count of 5 has the pad in it; the item is the
// same 5 bytes.
TEST_F(DecoderByOffset, AChunkWithItsPadIsTheSameItem) {
  const Bytes data = bytes({1, 2, 3, 4, 5, 0, 0, 0});
  Payload payload;
  Decoder in = decode({kOffset, data, true}, payload);
  EXPECT_TRUE(in.finish("call"));
  EXPECT_EQ(payload.data.size(), 5U);
  EXPECT_EQ(payload.data.data(), data.data());
}

// V1-3.4.5-12: any other length is an error.
TEST_F(DecoderByOffset, AChunkOfAnyOtherLengthIsAFault) {
  for (std::size_t length = 1; length <= 12; ++length) {
    for (const bool pad_included : {false, true}) {
      if (length == 5 || (pad_included && length == 8)) continue;
      const Bytes data(length);
      Payload payload;
      const Decoder in = decode({kOffset, data, pad_included}, payload);
      EXPECT_EQ(in.fault(), Fault::placed_length) << length << (pad_included ? " padded" : "");
    }
  }
}

TEST_F(DecoderByOffset, AChunkOfAnotherPlaceDoesNotCount) {
  const Bytes data = bytes({1, 2, 3, 4, 5});
  Payload payload;
  const Decoder in = decode({kOffset + 4, data}, payload);
  EXPECT_EQ(in.fault(), Fault::truncated);  // so the item should have been inline, and is not
  EXPECT_EQ(in.placed_taken(), 0U);
}

// Two chunks, listed in any order, are found by their offsets.
TEST(DecoderOffsets, FindChunksInAnyOrder) {
  const Bytes message = bytes({0, 0, 0, 2, 0, 0, 0, 3});
  const Bytes first = bytes({1, 2});
  const Bytes second = bytes({3, 4, 5});
  const std::array items = {PlacedItem{8, second}, PlacedItem{4, first}};
  Decoder in(message);
  in.place_at_offsets(items);
  EXPECT_EQ(in.payload(kBound, "one").data.data(), first.data());
  EXPECT_EQ(in.payload(kBound, "two").data.data(), second.data());
  EXPECT_TRUE(in.finish("call"));
}

}  // namespace
}  // namespace nfsrdma::xdr
