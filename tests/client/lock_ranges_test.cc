// Byte ranges of a lock-owner, against a model that keeps one state for each byte.
#include "client/state/lock_ranges.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace nfsrdma::client {
namespace {

constexpr std::uint64_t kEnd = ByteRange::kEnd;

TEST(LockRanges, ALockIsSplitByAnUnlockAndJoinedAgain) {
  LockRanges ranges;
  ranges.set({10, 29}, true);
  ranges.clear({15, 19});
  ASSERT_EQ(ranges.all().size(), 2u);
  EXPECT_EQ(ranges.all()[0], (LockedRange{{10, 14}, true}));
  EXPECT_EQ(ranges.all()[1], (LockedRange{{20, 29}, true}));
  EXPECT_FALSE(ranges.overlaps({15, 19}));
  EXPECT_TRUE(ranges.overlaps({0, 10}));
  ranges.set({15, 19}, true);
  ASSERT_EQ(ranges.all().size(), 1u);
  EXPECT_EQ(ranges.all()[0], (LockedRange{{10, 29}, true}));
}

TEST(LockRanges, ADowngradeReplacesOnlyItsPart) {
  LockRanges ranges;
  ranges.set(ByteRange::whole_file(), true);
  ranges.set({100, kEnd}, false);
  ASSERT_EQ(ranges.all().size(), 2u);
  EXPECT_EQ(ranges.all()[0], (LockedRange{{0, 99}, true}));
  EXPECT_EQ(ranges.all()[1], (LockedRange{{100, kEnd}, false}));
  EXPECT_EQ(ranges.all()[1].range.wire_length(), kEnd);
  EXPECT_EQ(ranges.all()[0].range.wire_length(), 100u);
  ranges.clear(ByteRange::whole_file());
  EXPECT_TRUE(ranges.empty());
}

TEST(LockRanges, BehaveAsOneStateForEachByte) {
  constexpr std::uint64_t kBytes = 24;
  enum class Held { no, shared, exclusive };
  std::array<Held, kBytes> model{};
  LockRanges ranges;
  std::mt19937 random(20);
  for (int step = 0; step < 3000; ++step) {
    const std::uint64_t first = random() % kBytes;
    const ByteRange range{first, first + random() % (kBytes - first)};
    const auto wanted = static_cast<Held>(random() % 3);
    for (auto byte = range.first; byte <= range.last; ++byte) model[byte] = wanted;
    wanted == Held::no ? ranges.clear(range) : ranges.set(range, wanted == Held::exclusive);

    std::array<Held, kBytes> found{};
    const LockedRange* before = nullptr;
    for (const LockedRange& held : ranges.all()) {
      const Held kind = held.exclusive ? Held::exclusive : Held::shared;
      for (auto byte = held.range.first; byte <= held.range.last; ++byte) found[byte] = kind;
      if (before) {
        ASSERT_LT(before->range.last, held.range.first);
        const bool touch = before->range.last + 1 == held.range.first;
        ASSERT_FALSE(touch && before->exclusive == held.exclusive) << "neighbours are not joined";
      }
      before = &held;
    }
    ASSERT_EQ(found, model) << "step " << step;
  }
}

}  // namespace
}  // namespace nfsrdma::client
