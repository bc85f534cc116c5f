// Pages that a WRITE may have lost on its way, and a READ have brought back as they were.
#include "fuse/kernel/reads_after_drop.h"

#include <gtest/gtest.h>

namespace nfsrdma::fuse {
namespace {

constexpr PageRange kNone{};
constexpr PageRange kRead{4096, 16384};
constexpr bool kUnderWay = true;
constexpr bool kOver = false;

TEST(ReadsAfterDropTest, WithoutADropNothingIsOld) {
  ReadsAfterDrop reads;
  reads.add(kRead);
  EXPECT_EQ(reads.written(kRead, kOver), kNone);
}

TEST(ReadsAfterDropTest, TheFirstWriteAfterADropHasLostWhatWasReadSince) {
  ReadsAfterDrop reads;
  reads.add({0, 4096});
  reads.watch();
  reads.add(kRead);
  EXPECT_EQ(reads.written({0, 8192}, kOver), (PageRange{4096, 8192}));
  EXPECT_EQ(reads.written({0, 8192}, kOver), kNone) << "the kernel began it after the drop";
}

TEST(ReadsAfterDropTest, WhileADropIsUnderWayEveryWriteMayHave) {
  ReadsAfterDrop reads;
  reads.watch();
  reads.add(kRead);
  EXPECT_EQ(reads.written(kRead, kUnderWay), kRead);
  EXPECT_EQ(reads.written(kRead, kUnderWay), kRead);
  EXPECT_EQ(reads.written(kRead, kOver), kRead);
  EXPECT_EQ(reads.written(kRead, kOver), kNone);
}

TEST(ReadsAfterDropTest, WhatALaterDropHasTakenIsNotOld) {
  ReadsAfterDrop reads;
  reads.watch();
  reads.add({0, 4096});
  reads.drops_begin();
  reads.watch();
  reads.add(kRead);
  reads.dropped_all();
  EXPECT_EQ(reads.written({0, 1 << 20}, kOver), kRead);
}

TEST(ReadsAfterDropTest, ManyReadsAreRememberedAsFewer) {
  ReadsAfterDrop reads;
  reads.watch();
  for (std::uint64_t i = 0; i < 100; ++i) reads.add({i * 8192, i * 8192 + 4096});
  EXPECT_EQ(reads.written({0, 1 << 20}, kOver), (PageRange{0, 99 * 8192 + 4096}));
}

}  // namespace
}  // namespace nfsrdma::fuse
