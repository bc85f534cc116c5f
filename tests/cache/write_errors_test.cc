// Errors of writes are reported to each open file: by its fsync once, by its close until then.
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

TEST(WriteErrors, ACloseTellsOfItUntilAnFsyncHas) {
  WriteErrors errors;
  auto seen = errors.sample();
  errors.record(EIO);
  EXPECT_EQ(errors.due_at_close(seen), EIO);
  errors.told_at_close();
  EXPECT_FALSE(errors.unreported());
  EXPECT_EQ(errors.due_at_close(seen), EIO) << "it may have been a child's close";
  EXPECT_EQ(errors.take(seen), EIO);
  EXPECT_EQ(errors.due_at_close(seen), 0);
}

// A file that stays open keeps the error; each user of the file for ever after would get it.
TEST(WriteErrors, WhatACloseHasToldIsLeftToTheFsyncOfALaterHandle) {
  WriteErrors errors;
  errors.record(EIO);
  errors.told_at_close();
  auto later = errors.sample();
  EXPECT_EQ(errors.due_at_close(later), 0);
  EXPECT_EQ(errors.take(later), EIO);
  auto last = errors.sample();
  EXPECT_EQ(errors.due(last), 0);
}

TEST(WriteErrors, WhatNobodyWasToldIsToldByTheCloseOfALaterHandle) {
  WriteErrors errors;
  errors.record(EIO);
  auto later = errors.sample();
  EXPECT_EQ(errors.due_at_close(later), EIO);
}

}  // namespace
}  // namespace nfsrdma::cache
