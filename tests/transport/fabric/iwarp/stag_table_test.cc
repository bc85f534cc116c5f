// The STag table by itself: which access is allowed, and that STags do not come back soon.
#include "transport/fabric/iwarp/stag_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "tests/transport/fabric/fabric_fixture.h"

namespace nfsrdma::fabric::iwarp {
namespace {

class StagTableTest : public ::testing::Test {
 protected:
  void expose(Lease& lease, Access access = Access::remote_write) {
    ASSERT_TRUE(table.prepare(&us, lease, memory, access));
    table.bind(&us, lease);
  }
  Denial denial(std::uint32_t stag, std::uint64_t offset, std::uint64_t length,
                Access access = Access::remote_write) {
    return table.find(&us, stag, offset, length, access).denial;
  }

  StagTable table;
  testing::Bytes memory = testing::pattern(1000);
  int us = 0;
  int them = 0;
};

TEST_F(StagTableTest, TheWholeMemoryAndEveryPartOfItIsFound) {
  Lease lease;
  expose(lease);
  const auto& [handle, length, base] = lease.segment;
  EXPECT_EQ(length, 1000u);
  const auto whole = table.find(&us, handle, base, 1000, Access::remote_write);
  EXPECT_EQ(whole.denial, Denial::none);
  EXPECT_EQ(whole.memory.data(), memory.data());
  EXPECT_EQ(whole.memory.size(), 1000u);
  const auto part = table.find(&us, handle, base + 999, 1, Access::remote_write);
  EXPECT_EQ(part.memory.data(), memory.data() + 999);
}

TEST_F(StagTableTest, EveryDenial) {
  Lease lease;
  expose(lease);
  const auto& [handle, length, base] = lease.segment;
  EXPECT_EQ(denial(handle, base, 1001), Denial::bounds);
  EXPECT_EQ(denial(handle, base + 1, 1000), Denial::bounds);
  EXPECT_EQ(denial(handle, base - 1, 10), Denial::bounds);
  EXPECT_EQ(denial(handle, 0, 10), Denial::bounds);
  EXPECT_EQ(denial(handle, ~0ull, 2), Denial::wrap);
  EXPECT_EQ(denial(handle, base, 10, Access::remote_read), Denial::access_right);
  EXPECT_EQ(table.find(&them, handle, base, 10, Access::remote_write).denial, Denial::foreign_stag);
  for (int bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(denial(handle ^ 1u << bit, base, 10), Denial::unknown_stag) << bit;
  }
}

TEST_F(StagTableTest, OnlyABoundLeaseIsOpen) {
  Lease lease;
  ASSERT_TRUE(table.prepare(&us, lease, memory, Access::remote_write));
  EXPECT_EQ(lease.state, LeaseState::prepared);
  EXPECT_EQ(denial(lease.segment.handle, lease.segment.offset, 1), Denial::unknown_stag);
  table.bind(&us, lease);
  EXPECT_EQ(lease.state, LeaseState::bound);
  EXPECT_EQ(denial(lease.segment.handle, lease.segment.offset, 1), Denial::none);
  EXPECT_TRUE(table.invalidate(&us, lease));
  EXPECT_EQ(lease.state, LeaseState::free);
  EXPECT_EQ(denial(lease.segment.handle, lease.segment.offset, 1), Denial::unknown_stag);
}

TEST_F(StagTableTest, CancelTakesBackWhatNoSendHasBound) {
  Lease lease;
  ASSERT_TRUE(table.prepare(&us, lease, memory, Access::remote_write));
  table.cancel(&us, lease);
  EXPECT_EQ(lease.state, LeaseState::free);
  EXPECT_EQ(table.in_use(), 0u);
}

TEST_F(StagTableTest, InvalidationByThePeer) {
  Lease lease;
  expose(lease);
  EXPECT_EQ(table.invalidate(&them, lease.segment.handle), Denial::foreign_stag);
  EXPECT_EQ(table.invalidate(&us, lease.segment.handle + 1), Denial::unknown_stag);
  EXPECT_TRUE(table.is_open(lease));
  EXPECT_EQ(table.invalidate(&us, lease.segment.handle), Denial::none);
  EXPECT_FALSE(table.is_open(lease));
  EXPECT_EQ(table.invalidate(&us, lease.segment.handle), Denial::unknown_stag);
  EXPECT_EQ(lease.state, LeaseState::bound);
  EXPECT_TRUE(table.invalidate(&us, lease));
}

TEST_F(StagTableTest, PinsDelaySettling) {
  Lease lease;
  expose(lease);
  const auto target =
      table.find(&us, lease.segment.handle, lease.segment.offset, 1, Access::remote_write);
  table.pin(target.index);
  table.pin(target.index);
  EXPECT_FALSE(table.invalidate(&us, lease));
  EXPECT_EQ(table.unpin(target.index), nullptr);
  EXPECT_EQ(lease.state, LeaseState::invalidating);
  EXPECT_EQ(table.unpin(target.index), &lease);
  table.finish_invalidating(&us, lease);
  EXPECT_EQ(lease.state, LeaseState::free);
}

TEST_F(StagTableTest, ReleaseAllConcernsOneConnection) {
  Lease ours;
  Lease theirs;
  expose(ours);
  ASSERT_TRUE(table.prepare(&them, theirs, memory, Access::remote_read));
  table.release_all(&us);
  EXPECT_EQ(ours.state, LeaseState::free);
  EXPECT_EQ(theirs.state, LeaseState::prepared);
  table.cancel(&them, theirs);
}

TEST_F(StagTableTest, StagsDifferFromUseToUseAndOffsetsNeverWrap) {
  std::set<std::uint32_t> seen;
  std::uint32_t previous = 0;
  constexpr int uses = 2000;
  for (int i = 0; i < uses; ++i) {
    Lease lease;
    expose(lease);
    EXPECT_NE(lease.segment.handle, 0u);
    EXPECT_LT(lease.segment.handle, StagTable::kFirstSinkStag);
    EXPECT_LT(lease.segment.offset, ~0ull / 2 + 1);
    seen.insert(lease.segment.handle);
    previous = lease.segment.handle;
    ASSERT_TRUE(table.invalidate(&us, lease));
  }
  EXPECT_NE(previous, 0u);
  // 128 indexes times 256 keys: repetitions are rare.
  EXPECT_GT(seen.size(), 1800u);
}

TEST_F(StagTableTest, ManyLeasesAtOnceAllDiffer) {
  constexpr std::size_t many = 1000;
  std::vector<std::unique_ptr<Lease>> leases;
  std::set<std::uint32_t> seen;
  for (std::size_t i = 0; i < many; ++i) {
    leases.push_back(std::make_unique<Lease>());
    expose(*leases.back());
    seen.insert(leases.back()->segment.handle);
  }
  EXPECT_EQ(seen.size(), many);
  EXPECT_EQ(table.in_use(), many);
  table.release_all(&us);
  EXPECT_EQ(table.in_use(), 0u);
}

TEST_F(StagTableTest, ATableThatIsFullSaysSo) {
  std::vector<std::unique_ptr<Lease>> leases;
  for (;;) {
    leases.push_back(std::make_unique<Lease>());
    auto prepared = table.prepare(&us, *leases.back(), memory, Access::remote_read);
    if (prepared) continue;
    EXPECT_TRUE(prepared.error().is(Layer::fabric, static_cast<int>(Fault::resources)));
    EXPECT_EQ(leases.back()->state, LeaseState::free);
    break;
  }
  EXPECT_GE(leases.size(), 65536u);
  table.release_all(&us);
}

TEST_F(StagTableTest, WrongTransitionsAreDefectsOfTheCaller) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Lease lease;
  EXPECT_DEATH(table.bind(&us, lease), "state");
  EXPECT_DEATH(static_cast<void>(table.invalidate(&us, lease)), "state");
  ASSERT_TRUE(table.prepare(&us, lease, memory, Access::remote_read));
  EXPECT_DEATH(static_cast<void>(table.prepare(&us, lease, memory, Access::remote_read)), "free");
  EXPECT_DEATH(static_cast<void>(table.invalidate(&us, lease)), "state");
  EXPECT_DEATH(table.bind(&them, lease), "owner");
  table.bind(&us, lease);
  EXPECT_DEATH(table.cancel(&us, lease), "state");
  table.release_all(&us);
}

}  // namespace
}  // namespace nfsrdma::fabric::iwarp
