// From a number of inodes on the kernel is asked to forget those that are not used.
#include "fuse/kernel/inode_limit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/fuse/kernel/collected_orders.h"
#include "tests/support/counter_of.h"

namespace nfsrdma::fuse::test {
namespace {

constexpr std::size_t kMost = 800;
constexpr std::size_t kEnough = 700;

class InodeLimitTest : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    limit_ = std::make_unique<InodeLimit>(*inodes_, caches_->notifier(), reactor_, kMost);
    for (std::uint32_t i = 1; inodes_->size() < kMost - 1; ++i) add(i);
  }
  void TearDown() override {
    limit_.reset();
    KernelTest::TearDown();
  }

  /// The kernel looks up a file of the root.
  Inode& add(std::uint32_t number, std::uint32_t mode = S_IFREG) {
    client::FileHandle handle;
    handle.assign(std::as_bytes(std::span(&number, 1)));
    const InodeRef made = with_view(inodes_->obtain(handle, number, mode));
    cache::FileAttributes attributes;
    attributes.fileid = number;
    attributes.mode = mode;
    attributes.change = 1;
    cache::IssueClock clock;
    made->attributes().store(attributes, clock.issue({}), clock, {});
    inodes_->count_lookup(*made);
    made->led_by(root_inode(), std::to_string(number));
    return *made;
  }
  InodeRef root_inode() { return inodes_->find(InodeTable::kRootId); }

  /// The ids that the kernel is asked to forget next.
  std::vector<std::uint64_t> next_asked() {
    std::vector<std::uint64_t> asked;
    reactor_.advance(InodeLimit::kPause / 2);
    EXPECT_TRUE(soon([&] {
      for (const std::uint64_t id : kernel_->forgotten_inodes()) asked.push_back(id);
      return !asked.empty();
    }));
    return asked;
  }
  /// The kernel follows an order.
  void forget(const std::vector<std::uint64_t>& ids) {
    for (const std::uint64_t id : ids) {
      if (const InodeRef inode = inodes_->find(id)) inodes_->forget(*inode, 1);
    }
  }

  /// Times that memory was given back to the system.
  std::uint64_t trims() { return nfsrdma::testing::counter_of(*limit_, "fs_memory_given_back"); }

  std::unique_ptr<InodeLimit> limit_;
};

TEST_F(InodeLimitTest, BelowItNothingIsAsked) {
  EXPECT_FALSE(limit_->reached());
  reactor_.advance(std::chrono::seconds(10));
  EXPECT_TRUE(kernel_->forgotten_inodes().empty());
}

TEST_F(InodeLimitTest, AtItAsManyAreForgottenAsMakeAnEighthFree) {
  add(100000);
  EXPECT_TRUE(limit_->reached());
  const std::vector<std::uint64_t> asked = next_asked();
  EXPECT_EQ(asked.size(), kMost - kEnough);
  EXPECT_EQ(std::set(asked.begin(), asked.end()).size(), asked.size());
  forget(asked);
  EXPECT_EQ(inodes_->size(), kEnough);
  reactor_.advance(std::chrono::seconds(10));
  reactor_.settle();
  EXPECT_TRUE(kernel_->forgotten_inodes().empty());
}

TEST_F(InodeLimitTest, WhatWasUsedSinceTheLastRoundStays) {
  std::vector<std::uint64_t> ids;
  inodes_->for_each([&](Inode& inode) { ids.push_back(inode.id()); });
  std::set<std::uint64_t> used(ids.begin(), ids.begin() + kMost / 2);
  for (const std::uint64_t id : used) inodes_->find(id);
  add(100000);
  for (const std::uint64_t id : next_asked()) EXPECT_FALSE(used.contains(id));
}

TEST_F(InodeLimitTest, WhatIsInUseHereStays) {
  std::vector<InodeRef> held;
  std::set<std::uint64_t> ids;
  inodes_->for_each([&](Inode& inode) {
    if (held.size() < kMost - 10) held.emplace_back(&inode);
  });
  for (const InodeRef& inode : held) ids.insert(inode->id());
  add(100000);
  for (const std::uint64_t id : next_asked()) EXPECT_FALSE(ids.contains(id));
}

TEST_F(InodeLimitTest, AnOlderKernelIsAskedByNames) {
  kernel_->forgets_names_only();
  add(100000);
  std::vector<std::string> names;
  reactor_.advance(InodeLimit::kPause / 2);
  EXPECT_TRUE(soon([&] {
    for (std::string& name : kernel_->forgotten_names()) names.push_back(std::move(name));
    return names.size() == kMost - kEnough;
  }));
  EXPECT_EQ(names.front(), "1");
}

// A page holds inodes of many directories: an early trim finds few free pages.
TEST_F(InodeLimitTest, MemoryIsGivenBackAgainAfterTheLastHasGone) {
  constexpr std::uint32_t kMany = 3 * InodeLimit::kTrim / 2;
  limit_ = nullptr;
  limit_ = std::make_unique<InodeLimit>(*inodes_, caches_->notifier(), reactor_, 2 * kMany);
  std::vector<std::uint64_t> ids;
  for (std::uint32_t i = 0; i < kMany; ++i) ids.push_back(add(200000 + i).id());
  const auto half = ids.begin() + InodeLimit::kTrim + 10;
  forget({ids.begin(), half});
  reactor_.advance(InodeLimit::kTrimDelay / 2);
  EXPECT_EQ(trims(), 0U);
  forget({half, ids.end()});
  reactor_.advance(InodeLimit::kTrimDelay);
  EXPECT_EQ(trims(), 1U);
  reactor_.advance(InodeLimit::kTrimDelay);
  EXPECT_EQ(trims(), 2U);
  reactor_.advance(10 * InodeLimit::kTrimDelay);
  EXPECT_EQ(trims(), 2U) << "nothing has gone since";
}

// The kernel goes on asking about a file that it was told, and a name that it has forgotten needs
// no memory here.
TEST_F(InodeLimitTest, ANameGoesWithTheInodeThatItLeadsTo) {
  Inode& file = add(100000);
  root_inode()->view().advertise_name("100000", AdvertisedNames::As::there, file.id());
  root_inode()->view().advertise_name("1", AdvertisedNames::As::there, file.id() + 1);
  inodes_->forget(file, 1);
  EXPECT_FALSE(root_inode()->view().names()->node("100000"));
  EXPECT_TRUE(root_inode()->view().names()->node("1"));
}

}  // namespace
}  // namespace nfsrdma::fuse::test
