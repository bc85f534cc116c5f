// Errors of writes are reported once to each open file, and never lost.
#include "cache/data/write_errors.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace nfsrdma::cache {
namespace {

TEST(WriteErrors, NothingToReportAtFirst) {
  WriteErrors errors;
  auto seen = errors.sample();
  EXPECT_EQ(errors.take(seen), 0);
  EXPECT_FALSE(errors.unreported());
}

TEST(WriteErrors, EachHandleIsToldOnce) {
  WriteErrors errors;
  auto first = errors.sample();
  auto second = errors.sample();
  errors.record(EIO);
  EXPECT_EQ(errors.take(first), EIO);
  EXPECT_EQ(errors.take(first), 0);
  EXPECT_EQ(errors.take(second), EIO);
  EXPECT_EQ(errors.take(second), 0);
}

TEST(WriteErrors, ALaterErrorIsReportedAgain) {
  WriteErrors errors;
  auto seen = errors.sample();
  errors.record(EIO);
  errors.take(seen);
  errors.record(ENOSPC);
  EXPECT_EQ(errors.take(seen), ENOSPC);
}

TEST(WriteErrors, ALaterHandleIsNotToldWhatAnotherHasReported) {
  WriteErrors errors;
  auto seen = errors.sample();
  errors.record(EIO);
  errors.take(seen);
  auto later = errors.sample();
  EXPECT_EQ(errors.take(later), 0);
}

TEST(WriteErrors, ALaterHandleIsToldWhatNobodyHasReported) {
  WriteErrors errors;
  errors.record(EDQUOT);
  EXPECT_TRUE(errors.unreported());
  auto later = errors.sample();
  EXPECT_EQ(errors.take(later), EDQUOT);
  EXPECT_FALSE(errors.unreported());
}

}  // namespace
}  // namespace nfsrdma::cache
