// The memory of uncommitted data: slots and copies are counted, given back, and bounded.
#include "cache/data/uncommitted_memory.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/support/virtual_reactor.h"
#include "transport/base/task.h"

namespace nfsrdma::cache {
namespace {

constexpr std::size_t kSlot = 256 * 1024;

class UncommittedMemoryTest : public ::testing::Test {
 protected:
  UncommittedMemoryTest() : pool(std::move(*BufferPool::create(kSlot, 8))) {}

  Uncommitted keep(std::size_t length) {
    Buffer slot = pool->acquire();
    std::fill_n(slot.data(), length, std::byte{7});
    return memory.keep(slot, slot.first(length));
  }

  VirtualReactor reactor;
  std::unique_ptr<BufferPool> pool;
  UncommittedMemory memory{reactor, {.slots = 4, .copied_bytes = 100000}};
};

TEST_F(UncommittedMemoryTest, ALargeWriteKeepsItsSlot) {
  Buffer slot = pool->acquire();
  const std::byte* place = slot.data();
  Uncommitted kept = memory.keep(slot, slot.first(kSlot));
  EXPECT_FALSE(slot);
  EXPECT_EQ(kept.data.data(), place);
  EXPECT_EQ(pool->available(), 7u);
  EXPECT_EQ(memory.slots_uncommitted(), 1u);
  kept = {};
  EXPECT_EQ(pool->available(), 8u);
  EXPECT_EQ(memory.slots_uncommitted(), 0u);
}

TEST_F(UncommittedMemoryTest, ASmallWriteIsCopiedAndGivesItsSlotBack) {
  Buffer slot = pool->acquire();
  slot.data()[0] = std::byte{1};
  Uncommitted kept = memory.keep(slot, slot.first(10));
  slot.data()[0] = std::byte{2};
  EXPECT_TRUE(slot);
  EXPECT_EQ(kept.data.size(), 10u);
  EXPECT_EQ(kept.data[0], std::byte{1});
  EXPECT_EQ(memory.bytes_copied(), 10u);
  kept = {};
  EXPECT_EQ(memory.bytes_copied(), 0u);
}

TEST_F(UncommittedMemoryTest, FillsUpBySlots) {
  std::vector<Uncommitted> kept;
  kept.push_back(keep(kSlot));
  EXPECT_FALSE(memory.filling());
  kept.push_back(keep(kSlot));
  EXPECT_TRUE(memory.filling());
  EXPECT_FALSE(memory.full());
  kept.push_back(keep(kSlot));
  kept.push_back(keep(kSlot));
  EXPECT_TRUE(memory.full());
}

TEST_F(UncommittedMemoryTest, FillsUpByCopies) {
  const Uncommitted half = keep(50000);
  EXPECT_TRUE(memory.filling());
  EXPECT_FALSE(memory.full());
  const Uncommitted rest = keep(60000);
  EXPECT_TRUE(memory.full());
}

// What is kept beside a byte takes more room than the byte.
TEST_F(UncommittedMemoryTest, TinyWritesCountWithWhatTheyTake) {
  UncommittedMemory whole(reactor, {.slots = 4});
  const std::size_t most =
      UncommittedMemory::Limits{}.copied_bytes / 2 / (1 + UncommittedMemory::kBesideACopy);
  std::vector<Uncommitted> kept;
  Buffer slot = pool->acquire();
  while (!whole.filling() && kept.size() <= most) kept.push_back(whole.keep(slot, slot.first(1)));
  EXPECT_TRUE(whole.filling());
  EXPECT_EQ(whole.bytes_copied(), kept.size());
  kept.clear();
  EXPECT_FALSE(whole.filling());
}

TEST_F(UncommittedMemoryTest, WritersWaitWhileItIsFullAndGoOnWhenItIsNot) {
  std::vector<Uncommitted> kept;
  for (int i = 0; i < 4; ++i) kept.push_back(keep(kSlot));
  int entered = 0;
  auto writer = [](UncommittedMemory& of, int& count) -> Task<void> {
    co_await of.room();
    ++count;
  };
  spawn(writer(memory, entered));
  spawn(writer(memory, entered));
  reactor.settle();
  EXPECT_EQ(entered, 0);
  kept.pop_back();
  reactor.settle();
  EXPECT_EQ(entered, 2);
}

TEST_F(UncommittedMemoryTest, NobodyWaitsWhileThereIsRoom) {
  int entered = 0;
  auto writer = [](UncommittedMemory& of, int& count) -> Task<void> {
    co_await of.room();
    ++count;
  };
  spawn(writer(memory, entered));
  EXPECT_EQ(entered, 1);
}

}  // namespace
}  // namespace nfsrdma::cache
