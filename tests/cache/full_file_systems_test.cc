// Refusals for want of space: whom they concern, and for how long.
#include "cache/write/full_file_systems.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace nfsrdma::cache {
namespace {

constexpr FileSystemId kFull{1, 1};
constexpr FileSystemId kOtherFileSystem{1, 2};
constexpr std::uint32_t kWriter = 1000;
constexpr std::uint32_t kOtherWriter = 1001;
const TimePoint kRefusedAt{std::chrono::hours(1)};

TEST(FullFileSystems, AFullDiskConcernsAllUsersOfThatFileSystem) {
  FullFileSystems full;
  EXPECT_FALSE(full.full(kFull, kWriter, kRefusedAt));
  full.refused(kFull, kWriter, ENOSPC, kRefusedAt);
  EXPECT_TRUE(full.full(kFull, kWriter, kRefusedAt));
  EXPECT_TRUE(full.full(kFull, kOtherWriter, kRefusedAt));
  EXPECT_FALSE(full.full(kOtherFileSystem, kWriter, kRefusedAt));
  full.grown(kOtherFileSystem, kWriter);
  EXPECT_TRUE(full.full(kFull, kWriter, kRefusedAt));
  full.grown(kFull, kOtherWriter);
  EXPECT_FALSE(full.full(kFull, kWriter, kRefusedAt));
}

TEST(FullFileSystems, AQuotaConcernsItsUser) {
  FullFileSystems full;
  full.refused(kFull, kWriter, EDQUOT, kRefusedAt);
  EXPECT_TRUE(full.full(kFull, kWriter, kRefusedAt));
  EXPECT_FALSE(full.full(kFull, kOtherWriter, kRefusedAt));
  EXPECT_FALSE(full.full(kOtherFileSystem, kWriter, kRefusedAt));
  full.grown(kFull, kOtherWriter);
  EXPECT_TRUE(full.full(kFull, kWriter, kRefusedAt));
  full.grown(kFull, kWriter);
  EXPECT_FALSE(full.full(kFull, kWriter, kRefusedAt));
}

TEST(FullFileSystems, AQuotaDoesNotReplaceAFullDisk) {
  FullFileSystems full;
  full.refused(kFull, kWriter, ENOSPC, kRefusedAt);
  full.refused(kFull, kWriter, EDQUOT, kRefusedAt);
  EXPECT_TRUE(full.full(kFull, kOtherWriter, kRefusedAt));
}

TEST(FullFileSystems, OtherErrorsAreNotAboutSpace) {
  FullFileSystems full;
  full.refused(kFull, kWriter, EIO, kRefusedAt);
  EXPECT_FALSE(full.full(kFull, kWriter, kRefusedAt));
}

TEST(FullFileSystems, ARefusalEndsByItselfAndANewOneCountsFromItsOwnTime) {
  FullFileSystems full;
  full.refused(kFull, kWriter, ENOSPC, kRefusedAt);
  const TimePoint half = kRefusedAt + FullFileSystems::kLongest / 2;
  const TimePoint end = kRefusedAt + FullFileSystems::kLongest;
  EXPECT_TRUE(full.full(kFull, kWriter, half));
  EXPECT_FALSE(full.full(kFull, kWriter, end));
  full.refused(kFull, kWriter, ENOSPC, half);
  EXPECT_TRUE(full.full(kFull, kWriter, end));
  EXPECT_FALSE(full.full(kFull, kWriter, half + FullFileSystems::kLongest));
}

TEST(FullFileSystems, OneMoreThanIsKeptReplacesTheOldest) {
  FullFileSystems full;
  for (std::uint64_t i = 0; i <= FullFileSystems::kMost; ++i)
    full.refused({2, i}, kWriter, ENOSPC, kRefusedAt);
  EXPECT_FALSE(full.full({2, 0}, kWriter, kRefusedAt));
  for (std::uint64_t i = 1; i <= FullFileSystems::kMost; ++i)
    EXPECT_TRUE(full.full({2, i}, kWriter, kRefusedAt));
}

}  // namespace
}  // namespace nfsrdma::cache
