#include "transport/base/metrics.h"

#include <gtest/gtest.h>

#include <thread>

namespace nfsrdma {
namespace {

// One thread adds, another reads whole values that never go back; the thread sanitizer watches.
TEST(Counter, IsReadWholeByOtherThreads) {
  constexpr std::uint64_t kTimes = 10'000;
  constexpr std::uint64_t kStep = (std::uint64_t{1} << 32) + 1;
  Counter counter;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < kTimes; ++i) counter.add(kStep);
  });
  std::uint64_t last = 0;
  while (last < kTimes * kStep) {
    const std::uint64_t value = counter.value();
    ASSERT_GE(value, last);
    ASSERT_EQ(value % kStep, 0U);
    last = value;
  }
  writer.join();
  EXPECT_EQ(counter.value(), kTimes * kStep);
}

}  // namespace
}  // namespace nfsrdma
