// Small writes joined to one, in bounded memory.
#include "cache/data/gathered_write.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nfsrdma::cache {
namespace {

constexpr std::size_t kMost = 4 * GatheredWrite::kGatherBelow;

class GatheredWriteTest : public ::testing::Test {
 protected:
  GatheredWriteTest() : pool(std::move(*BufferPool::create(kMost, 4))) {}

  std::size_t add(std::uint64_t offset, const std::string& text) {
    return write.add(offset, std::as_bytes(std::span(text)));
  }
  std::string text() {
    const GatheredWrite::Taken taken = write.take();
    const auto data = taken.data;
    return {reinterpret_cast<const char*>(data.data()), data.size()};
  }

  std::unique_ptr<BufferPool> pool;
  GatherMemory memory{*pool, 2};
  GatheredWrite write;
};

TEST_F(GatheredWriteTest, JoinsWhatFollowsAndReplacesWhatIsThere) {
  write.begin(memory.acquire(), 100, kMost);
  EXPECT_EQ(add(100, "abc"), 3u);
  EXPECT_EQ(add(103, "def"), 3u);
  EXPECT_EQ(add(101, "XY"), 2u);
  EXPECT_EQ(add(105, "Zg"), 2u);
  EXPECT_EQ(write.offset(), 100u);
  EXPECT_EQ(write.end(), 107u);
  EXPECT_EQ(text(), "aXYdeZg");
  EXPECT_TRUE(write.empty());
}

TEST_F(GatheredWriteTest, TakesNothingThatLeavesAGapOrComesBefore) {
  write.begin(memory.acquire(), 100, kMost);
  EXPECT_EQ(add(100, "abc"), 3u);
  EXPECT_EQ(add(104, "x"), 0u);
  EXPECT_EQ(add(99, "xx"), 0u);
  EXPECT_FALSE(write.takes(104, 1));
  EXPECT_FALSE(write.takes(99, 2));
  EXPECT_EQ(text(), "abc");
}

TEST_F(GatheredWriteTest, ARunWrittenInSequenceEndsAtABlockOfTheLongestLength) {
  const std::uint64_t offset = 10 * kMost + 100;
  write.begin(memory.acquire(), offset, kMost);
  const std::string block(kMost - 101, 'a');
  EXPECT_EQ(add(offset, block), block.size());
  EXPECT_FALSE(write.full());
  EXPECT_FALSE(write.takes(write.end(), 2));
  EXPECT_EQ(add(write.end(), "bc"), 1u);
  EXPECT_TRUE(write.full());
  EXPECT_EQ(write.end(), 11 * kMost);
}

TEST_F(GatheredWriteTest, ThereIsAlwaysRoomForOneSmallWrite) {
  const std::uint64_t offset = kMost - 1;
  write.begin(memory.acquire(), offset, kMost);
  const std::string small(GatheredWrite::kGatherBelow - 1, 'a');
  EXPECT_EQ(add(offset, small), small.size());
}

TEST_F(GatheredWriteTest, AnEmptyOneTakesNothing) {
  EXPECT_TRUE(write.empty());
  EXPECT_FALSE(write.takes(0, 1));
  EXPECT_EQ(add(0, "a"), 0u);
}

TEST_F(GatheredWriteTest, MemoryIsBoundedAndComesBack) {
  GatherSlot first = memory.acquire();
  GatherSlot second = memory.acquire();
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(memory.acquire());
  EXPECT_EQ(pool->available(), 2u);
  first.reset();
  EXPECT_TRUE(memory.acquire());
  EXPECT_EQ(memory.slots(), 1u);
}

TEST_F(GatheredWriteTest, ASlotKeptElsewhereIsNoLongerCounted) {
  write.begin(memory.acquire(), 0, kMost);
  add(0, "abc");
  Buffer kept;
  {
    GatheredWrite::Taken taken = write.take();
    kept = std::move(taken.slot.buffer());
  }
  EXPECT_EQ(memory.slots(), 0u);
  EXPECT_EQ(pool->available(), 3u);
}

TEST_F(GatheredWriteTest, AnExhaustedPoolIsLikeTheBound) {
  std::vector<Buffer> all;
  while (Buffer buffer = pool->acquire()) all.push_back(std::move(buffer));
  EXPECT_FALSE(memory.acquire());
  EXPECT_EQ(memory.slots(), 0u);
}

TEST_F(GatheredWriteTest, NeverPassesWhatTheServerTakes) {
  constexpr std::size_t kServerTakes = GatheredWrite::kGatherBelow;
  write.begin(memory.acquire(), 0, kServerTakes);
  EXPECT_EQ(add(0, std::string(kServerTakes + 10, 'x')), kServerTakes);
  EXPECT_FALSE(write.takes(kServerTakes, 1));
}

}  // namespace
}  // namespace nfsrdma::cache
