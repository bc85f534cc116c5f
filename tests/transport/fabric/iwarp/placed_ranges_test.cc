// Which bytes of a lease were placed: against a map of bytes, in every order.
#include "transport/fabric/iwarp/placed_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace nfsrdma::fabric::iwarp {
namespace {

class PlacedRangesTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kSize = 64;

  /// Does what a peer does, and notes it.
  void place(std::size_t offset, std::size_t length) {
    std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(offset), length, std::byte{1});
    std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(offset), length, true);
    ranges_.add(memory_, offset, length);
  }
  std::size_t first_gap() const {
    return static_cast<std::size_t>(std::find(written_.begin(), written_.end(), false) -
                                    written_.begin());
  }
  /// Nothing that was there before lies in what counts as placed.
  bool is_clean() const {
    const auto end = memory_.begin() + static_cast<std::ptrdiff_t>(ranges_.contiguous());
    return std::find(memory_.begin(), end, std::byte{0x5A}) == end;
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kSize, std::byte{0x5A});
  std::vector<bool> written_ = std::vector<bool>(kSize);
  PlacedRanges ranges_;
};

TEST_F(PlacedRangesTest, CountsFromTheBeginning) {
  EXPECT_EQ(ranges_.contiguous(), 0u);
  place(0, 10);
  place(10, 5);
  EXPECT_EQ(ranges_.contiguous(), 15u);
}

TEST_F(PlacedRangesTest, TheSameBytesCountOnce) {
  place(0, 10);
  place(0, 10);
  place(5, 5);
  EXPECT_EQ(ranges_.contiguous(), 10u);
}

TEST_F(PlacedRangesTest, WhatIsBehindAGapCountsWhenItIsClosed) {
  place(20, 10);
  place(40, 10);
  EXPECT_EQ(ranges_.contiguous(), 0u);
  place(0, 20);
  EXPECT_EQ(ranges_.contiguous(), 30u);
  place(29, 11);
  EXPECT_EQ(ranges_.contiguous(), 50u);
}

TEST_F(PlacedRangesTest, FromTheEndToTheBeginning) {
  for (std::size_t at = kSize; at-- > 0;) {
    EXPECT_EQ(ranges_.contiguous(), 0u);
    place(at, 1);
  }
  EXPECT_EQ(ranges_.contiguous(), kSize);
}

TEST_F(PlacedRangesTest, MorePiecesThanCanBeRememberedLeaveNothingOfBefore) {
  for (std::size_t at = 1; at < kSize; at += 2) place(at, 1);
  EXPECT_EQ(ranges_.contiguous(), kSize);
  EXPECT_TRUE(is_clean());
  for (std::size_t at = 1; at < 17; at += 2) EXPECT_EQ(memory_[at], std::byte{1}) << at;
}

TEST_F(PlacedRangesTest, EightPiecesInAnyOrderAreCountedExactly) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::array<std::size_t, 8> order = {0, 1, 2, 3, 4, 5, 6, 7};
    std::shuffle(order.begin(), order.end(), random);
    ranges_ = {};
    std::fill(written_.begin(), written_.end(), false);
    for (const std::size_t piece : order) {
      place(piece * 8, 8);
      EXPECT_EQ(ranges_.contiguous(), first_gap()) << seed;
    }
  }
}

TEST_F(PlacedRangesTest, NothingOfBeforeIsEverCounted) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    std::mt19937 random(seed);
    ranges_ = {};
    std::fill(memory_.begin(), memory_.end(), std::byte{0x5A});
    std::fill(written_.begin(), written_.end(), false);
    for (int step = 0; step < 24; ++step) {
      const std::size_t offset = random() % kSize;
      place(offset, 1 + random() % std::min<std::size_t>(6, kSize - offset));
      ASSERT_TRUE(is_clean()) << seed;
      ASSERT_GE(ranges_.contiguous(), first_gap()) << seed;
    }
  }
}

}  // namespace
}  // namespace nfsrdma::fabric::iwarp
