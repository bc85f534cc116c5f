// Lines of one kind are bounded, and those left out are counted.
#include "transport/base/log_limit.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nfsrdma::log {
namespace {

using namespace std::chrono_literals;

TEST(LogLimit, AdmitsAFewInEachPeriod) {
  Limit limit;
  Limit::Time now = 7s;
  for (std::uint32_t i = 0; i < Limit::kLines; ++i) EXPECT_EQ(limit.admit(now), 0u);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(limit.admit(now += 1ms).has_value());
  now = 7s + Limit::kPeriod;
  EXPECT_FALSE(limit.admit(now - 1ns).has_value());
  EXPECT_EQ(limit.admit(now), 1001u);
  EXPECT_EQ(limit.admit(now), 0u);
}

TEST(LogLimit, TheNextLineSaysHowManyWereLeftOut) {
  set_level(Level::info);
  Limit limit;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 20; ++i) limit.warning(0s, "line {}", i);
  limit.warning(Limit::kPeriod, "line {}", 20);
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), Limit::kLines + 1);
  EXPECT_NE(written.find("line 4\n"), std::string::npos);
  EXPECT_EQ(written.find("line 5"), std::string::npos);
  EXPECT_NE(written.find("line 20 (15 such lines were left out before)\n"), std::string::npos);
}

TEST(LogLimit, WhatTheLevelLeavesOutIsNotCounted) {
  set_level(Level::error);
  Limit limit;
  for (int i = 0; i < 20; ++i) limit.info(0s, "line {}", i);
  EXPECT_EQ(limit.admit(0s), 0u);
  set_level(Level::info);
}

}  // namespace
}  // namespace nfsrdma::log
