// Sequential and strided readers are told from others.
#include "cache/data/read_pattern.h"

#include <gtest/gtest.h>

#include "cache/data/read_window.h"

namespace nfsrdma::cache {
namespace {

using Next = ReadPattern::Next;
constexpr std::size_t kKilo = 1024;

class ReadPatternTest : public ::testing::Test {
 protected:
  Next read(std::uint64_t offset, std::size_t size, bool expected = false) {
    pattern.note(offset, size, expected);
    return pattern.next();
  }
  ReadPattern pattern;
};

TEST_F(ReadPatternTest, TwoReadsThatFollowEachOtherAreSequential) {
  EXPECT_EQ(read(0, 128 * kKilo), Next::unknown);
  EXPECT_EQ(read(128 * kKilo, 128 * kKilo), Next::sequential);
  EXPECT_EQ(pattern.end(), 256 * kKilo);
}

TEST_F(ReadPatternTest, WaitsUntilTheKernelsReadsHaveStoppedGrowing) {
  EXPECT_EQ(read(0, 16 * kKilo), Next::unknown);
  EXPECT_EQ(read(16 * kKilo, 32 * kKilo), Next::unknown);
  EXPECT_EQ(read(48 * kKilo, 64 * kKilo), Next::unknown);
  EXPECT_EQ(read(112 * kKilo, 64 * kKilo), Next::sequential);
  EXPECT_EQ(read(176 * kKilo, 128 * kKilo), Next::sequential) << "it stays one";
}

TEST_F(ReadPatternTest, ButNotForLong) {
  std::uint64_t offset = 0;
  Next next = Next::unknown;
  for (std::size_t size = 4 * kKilo; size <= 32 * kKilo; size *= 2) {
    next = read(offset, size);
    offset += size;
  }
  EXPECT_EQ(next, Next::sequential);
}

TEST_F(ReadPatternTest, AJumpEndsIt) {
  read(0, kKilo);
  ASSERT_EQ(read(kKilo, kKilo), Next::sequential);
  EXPECT_EQ(read(100 * kKilo, kKilo), Next::unknown);
  EXPECT_EQ(read(101 * kKilo, kKilo), Next::sequential) << "and another run begins";
}

TEST_F(ReadPatternTest, AJumpToWhatIsReadAheadDoesNot) {
  read(0, kKilo);
  read(kKilo, kKilo);
  EXPECT_EQ(read(10 * kKilo, kKilo, true), Next::sequential);
  EXPECT_EQ(read(11 * kKilo, kKilo), Next::sequential);
}

TEST_F(ReadPatternTest, OneThatWasOvertakenDoesNot) {
  for (int i = 0; i < 4; ++i) read(i * kKilo, kKilo);
  read(5 * kKilo, kKilo, true);
  EXPECT_EQ(read(4 * kKilo, kKilo), Next::sequential);
  EXPECT_EQ(read(6 * kKilo, kKilo), Next::sequential);
  EXPECT_EQ(pattern.end(), 7 * kKilo);
}

TEST_F(ReadPatternTest, RandomReadsAreNeither) {
  std::uint64_t offset = 1;
  for (int i = 0; i < 1000; ++i) {
    offset = (offset * 6364136223846793005U + 1442695040888963407U) % (1U << 30);
    EXPECT_EQ(read(offset / 4096 * 4096, 4096), Next::unknown);
  }
}

TEST_F(ReadPatternTest, EqualStepsAreAStride) {
  EXPECT_EQ(read(0, 4 * kKilo), Next::unknown);
  EXPECT_EQ(read(100 * kKilo, 4 * kKilo), Next::unknown);
  EXPECT_EQ(read(200 * kKilo, 4 * kKilo), Next::strided);
  EXPECT_EQ(pattern.stride(), 100 * kKilo);
  EXPECT_EQ(pattern.length(), 4 * kKilo);
  EXPECT_EQ(read(300 * kKilo, 4 * kKilo, true), Next::strided);
  EXPECT_EQ(read(450 * kKilo, 4 * kKilo), Next::unknown);
}

TEST_F(ReadPatternTest, StepsOfSeveralReadsAreOne) {
  Next next = Next::unknown;
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (std::uint64_t i = 0; i < 4; ++i) next = read(step * 1000 * kKilo + i * kKilo, kKilo);
  }
  EXPECT_EQ(next, Next::strided);
  EXPECT_EQ(pattern.length(), 4 * kKilo);
  EXPECT_EQ(read(2004 * kKilo, kKilo), Next::sequential) << "longer than the steps before";
}

TEST_F(ReadPatternTest, StepsBackwardsAreNot) {
  for (std::uint64_t step = 10; step > 0; --step) {
    EXPECT_EQ(read(step * 100 * kKilo, 4 * kKilo), Next::unknown);
  }
}

using std::chrono::milliseconds;
constexpr std::size_t kMega = std::size_t{1} << 20;

TEST(ReadWindow, GrowsToTwiceWhatTheReaderTakesInARoundTrip) {
  ReadWindow window;
  window.begin(128 * kKilo, 64 * kMega);
  EXPECT_EQ(window.bytes(), ReadWindow::kFirst);
  window.arrived(milliseconds(10));
  window.waited(milliseconds(10), 4 * kMega, kMega);
  EXPECT_EQ(window.bytes(), 10 * kMega);
  window.waited(milliseconds(10), kMega, kMega);
  EXPECT_EQ(window.bytes(), 10 * kMega) << "it does not shrink";
  window.waited(milliseconds(10), 100 * kMega, kMega);
  EXPECT_EQ(window.bytes(), 64 * kMega) << "never more than that";
}

TEST(ReadWindow, AQueueIsNoReasonToGrow) {
  ReadWindow window;
  window.begin(128 * kKilo, 64 * kMega);
  window.arrived(milliseconds(1));
  window.waited(milliseconds(10), 10 * kMega, kMega);
  EXPECT_EQ(window.bytes(), 4 * kMega) << "in 1 ms it takes 1 MiB";
}

TEST(ReadWindow, SeveralReadsAreOnTheirWay) {
  ReadWindow window;
  window.begin(128 * kKilo, 64 * kMega);
  EXPECT_EQ(window.piece(128 * kKilo), window.bytes() / 2);
  window.begin(kMega, 64 * kMega);
  EXPECT_EQ(window.bytes(), 2 * kMega);
  EXPECT_EQ(window.piece(kMega), kMega) << "no request lies in two pieces";
}

}  // namespace
}  // namespace nfsrdma::cache
