#include "transport/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

namespace nfsrdma {
namespace {

using namespace std::chrono_literals;
using Time = Histogram::Time;

/// The longest that a percentile may be said to be when it is `exact`.
Time upper_bound(Time exact) { return exact + std::max(exact / 16, Histogram::kUnit); }

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram times;
  EXPECT_EQ(times.count(), 0U);
  EXPECT_EQ(times.percentile(50), Time::zero());
  EXPECT_EQ(times.mean(), Time::zero());
  EXPECT_EQ(times.longest(), Time::zero());
}

TEST(Histogram, KnowsSumMeanAndLongestExactly) {
  Histogram times;
  for (const Time time : {1us, 2us, 6us}) times.add(time);
  EXPECT_EQ(times.count(), 3U);
  EXPECT_EQ(times.sum(), 9us);
  EXPECT_EQ(times.mean(), 3us);
  EXPECT_EQ(times.longest(), 6us);
}

// Every width of a number, and the numbers beside each power of two.
TEST(Histogram, AnyTimeIsTooLongByASixteenthAtMost) {
  for (std::int64_t value = 1; value < Histogram::kBounded.count(); value *= 2) {
    for (const std::int64_t near : {value - 1, value, value + 1, value + value / 3}) {
      Histogram times;
      times.add(Time(near));
      times.add(Histogram::kBounded - 1ns);  // so that the longest is not what is asked for
      const Time found = times.percentile(50);
      EXPECT_GE(found, Time(near));
      EXPECT_LE(found, upper_bound(Time(near)));
    }
  }
}

TEST(Histogram, PercentilesOfManyAreWithinTheirBound) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> latency(11, 2);  // about 60 us, with a long tail
  Histogram times;
  std::vector<Time> all;
  for (int i = 0; i < 20'000; ++i) {
    all.emplace_back(static_cast<std::int64_t>(latency(random)));
    times.add(all.back());
  }
  std::ranges::sort(all);
  for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto rank = static_cast<std::size_t>(static_cast<double>(all.size()) * percent / 100);
    const Time exact = all[rank - 1];
    EXPECT_GE(times.percentile(percent), exact) << percent;
    EXPECT_LE(times.percentile(percent), upper_bound(exact)) << percent;
  }
}

TEST(Histogram, WhatIsTooLongForItCountsAsTheLongest) {
  Histogram times;
  times.add(1us);
  times.add(Histogram::kBounded);
  times.add(1h);
  EXPECT_EQ(times.count(), 3U);
  EXPECT_LE(times.percentile(33), upper_bound(1us));
  EXPECT_EQ(times.percentile(50), 1h);
  EXPECT_EQ(times.longest(), 1h);
}

// A clock that went back must not write beside the buckets.
TEST(Histogram, TakesANegativeTimeForNone) {
  Histogram times;
  times.add(-5us);
  EXPECT_EQ(times.count(), 1U);
  EXPECT_EQ(times.sum(), Time::zero());
  EXPECT_EQ(times.percentile(100), Time::zero());
}

// The thread sanitizer watches.
TEST(Histogram, IsReadWhileItIsWritten) {
  constexpr std::uint64_t kTimes = 10'000;
  Histogram times;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < kTimes; ++i) times.add(10us);
  });
  while (times.count() < kTimes) {
    const Time median = times.percentile(50);
    ASSERT_LE(median, upper_bound(10us));
  }
  writer.join();
  EXPECT_EQ(times.sum(), kTimes * 10us);
}

}  // namespace
}  // namespace nfsrdma
