#include "transport/base/buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/support/virtual_reactor.h"
#include "tests/transport/base/allocations.h"
#include "transport/base/buffer_wait.h"

namespace nfsrdma {
namespace {

constexpr std::size_t kSlots = 4;

std::unique_ptr<BufferPool> make_pool(std::size_t slot_size = 1, std::size_t slots = kSlots) {
  auto pool = BufferPool::create(slot_size, slots);
  EXPECT_TRUE(pool);
  return std::move(*pool);
}

TEST(BufferPool, RoundsSlotsUpToPagesAndAlignsThem) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto pool = make_pool(page + 1);
  EXPECT_EQ(pool->slot_size(), 2 * page);
  EXPECT_EQ(pool->memory().size(), kSlots * 2 * page);
  const Buffer buffer = pool->acquire();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % page, 0U);
  EXPECT_EQ(buffer.size(), 2 * page);
}

TEST(BufferPool, HandsOutEachSlotOnceAndThenNone) {
  const auto pool = make_pool();
  std::vector<Buffer> taken;
  std::set<std::byte*> places;
  for (std::size_t i = 0; i < kSlots; ++i) {
    taken.push_back(pool->acquire());
    ASSERT_TRUE(taken.back());
    std::ranges::fill(taken.back().bytes(), std::byte{0x5a});
    places.insert(taken.back().data());
    EXPECT_GE(taken.back().data(), pool->memory().data());
    EXPECT_LT(taken.back().data(), pool->memory().data() + pool->memory().size());
  }
  EXPECT_EQ(places.size(), kSlots);
  EXPECT_EQ(pool->available(), 0U);
  EXPECT_FALSE(pool->acquire());
  taken.pop_back();
  EXPECT_EQ(pool->available(), 1U);
  EXPECT_TRUE(pool->acquire());
}

/// The flags of the mapping that this address is in, as proc(5) has them.
std::string mapping_flags(const std::byte* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      found = begin <= wanted && wanted < end;
    }
    if (found && line.starts_with("VmFlags:")) return line + ' ';
  }
  return {};
}

TEST(BufferPool, AsksForHugePagesForLargeSlots) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) {
    GTEST_SKIP() << "no huge pages here";
  }
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  const auto pool = make_pool(kHuge);
  EXPECT_THAT(mapping_flags(pool->memory().data()), testing::HasSubstr(" hg "));
  const auto small = make_pool(kHuge / 32, 32);
  EXPECT_THAT(mapping_flags(small->memory().data()), testing::Not(testing::HasSubstr(" hg ")));
}

TEST(BufferPool, HandsOutTheSlotLastReturned) {
  const auto pool = make_pool();
  const Buffer first = pool->acquire();
  Buffer second = pool->acquire();
  std::byte* place = second.data();
  second.reset();
  EXPECT_FALSE(second);
  const Buffer third = pool->acquire();
  EXPECT_EQ(third.data(), place);
}

TEST(BufferPool, AllocatesNothingAfterItsCreation) {
  const auto pool = make_pool();
  const std::size_t before = testing_support::allocations();
  for (int i = 0; i < 100; ++i) {
    const Buffer one = pool->acquire();
    const Buffer two = pool->acquire();
    ASSERT_TRUE(one && two);
  }
  EXPECT_EQ(testing_support::allocations(), before);
}

TEST(BufferPool, ThatCannotBeMappedIsAnError) {
  constexpr std::size_t kMoreThanAnAddressSpace = std::size_t{1} << 60;
  const auto pool = BufferPool::create(kMoreThanAnAddressSpace, 1);
  ASSERT_FALSE(pool);
  EXPECT_TRUE(pool.error().is(Layer::system, ENOMEM)) << pool.error().message();
}

TEST(Buffer, MovesItsSlotAndReturnsItOnce) {
  const auto pool = make_pool();
  Buffer one = pool->acquire();
  std::byte* place = one.data();
  Buffer two = std::move(one);
  EXPECT_FALSE(one);  // NOLINT(bugprone-use-after-move): a moved-from Buffer is empty
  EXPECT_EQ(two.data(), place);
  Buffer three = pool->acquire();
  three = std::move(two);  // returns what three had
  EXPECT_EQ(three.data(), place);
  EXPECT_EQ(pool->available(), kSlots - 1);
  three.reset();
  three.reset();
  EXPECT_EQ(pool->available(), kSlots);
}

struct CountingWaiter final : BufferWaiter {
  void on_buffer_available() override { ++told; }
  int told = 0;
};

TEST(BufferPool, TellsOneWaiterForEachSlotThatComesBack) {
  const auto pool = make_pool();
  Buffer one = pool->acquire();
  Buffer two = pool->acquire();
  CountingWaiter first;
  CountingWaiter second;
  CountingWaiter gone;
  pool->wait(gone);
  pool->wait(first);
  pool->wait(second);
  gone.unlink();
  one.reset();
  EXPECT_EQ(first.told, 1);
  EXPECT_EQ(second.told, 0);
  two.reset();
  EXPECT_EQ(second.told, 1);
  EXPECT_EQ(first.told, 1);
  EXPECT_EQ(gone.told, 0);
}

Task<void> take(Reactor& reactor, BufferPool& pool, Buffer& out) {
  Buffer buffer = co_await acquire_when_free(reactor, pool);
  out = std::move(buffer);
}

TEST(BufferPool, AwaitedSlotsComeWhenTheyAreFree) {
  VirtualReactor reactor;
  const auto pool = make_pool(1, 1);
  Buffer held = pool->acquire();
  Buffer first;
  Buffer second;
  spawn(take(reactor, *pool, first));
  spawn(take(reactor, *pool, second));
  reactor.settle();
  EXPECT_FALSE(first);
  held.reset();
  reactor.settle();
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
  first.reset();
  reactor.settle();
  EXPECT_TRUE(second);
}

TEST(BufferPool, ASlotIsShownAtASecondAddress) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto pool = std::move(*BufferPool::create(2 * page, kSlots, BufferPool::Mapping::many));
  auto* const place = static_cast<std::byte*>(
      ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const Buffer first = pool->acquire();
  const Buffer second = pool->acquire();
  ASSERT_TRUE(pool->show(first.data(), {place, page}));
  place[page - 1] = std::byte{1};
  EXPECT_EQ(first.data()[page - 1], std::byte{1});
  ASSERT_TRUE(pool->show(second.data(), {place, page}));
  place[page - 1] = std::byte{2};
  EXPECT_EQ(first.data()[page - 1], std::byte{1});
  EXPECT_EQ(second.data()[page - 1], std::byte{2});
  ::munmap(place, page);
  second.data()[0] = std::byte{3};
  EXPECT_FALSE(make_pool()->show(first.data(), {place, page})) << "one address each";
}

TEST(Buffer, ReturnsToWhoeverLendsIt) {
  struct Lender final : BufferOwner {
    void take_back(std::byte* data) override { returned = data; }
    std::byte* returned = nullptr;
  } lender;
  const auto pool = make_pool();
  Buffer slot = pool->acquire();
  const std::span<std::byte> memory = slot.release();
  EXPECT_FALSE(slot);
  EXPECT_EQ(pool->available(), kSlots - 1) << "its holder returns it";
  {
    Buffer lent(lender, memory);
    const Buffer moved = std::move(lent);
    EXPECT_EQ(lender.returned, nullptr);
  }
  EXPECT_EQ(lender.returned, memory.data());
  pool->take_back(memory.data());
  EXPECT_EQ(pool->available(), kSlots);
}

}  // namespace
}  // namespace nfsrdma
