// A kernel that is slow to drop pages: what may be believed of them meanwhile, and what has to
// wait.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "fuse/kernel/drop_thread.h"
#include "fuse/kernel/written_pages.h"
#include "tests/fuse/kernel/collected_orders.h"

namespace nfsrdma::fuse::test {
namespace {

using client::test::Pending;

constexpr PageRange kSomePages{0, 16384};
/// What the map of pages knows the whole of.
constexpr PageRange kPart{0, std::uint64_t{1} << 20};

class SlowKernel : public KernelTest {
 protected:
  KernelView& view(const FileRef& file) { return file->node().view(); }
  Pending<bool> begin(Task<void> task) { return Pending<bool>(ended(std::move(task))); }

 private:
  static Task<bool> ended(Task<void> task) {
    co_await task;
    co_return true;
  }
};

// What they bring may be from before the drop.
TEST_F(SlowKernel, ADropBeginsWhenTheReadsUnderWayAreAnswered) {
  FileRef file = open("f");
  std::optional<InFlightSet::One> reading(std::in_place, file->seen->reads);
  kernel_->lock_pages(true);
  auto dropping = begin(caches_->notifier().drop_pages_now(&file->node()));
  reactor_.settle();
  EXPECT_FALSE(view(file).may_be_dropping());
  kernel_->lock_pages(false);
  reading.reset();
  EXPECT_TRUE(soon([&] { return dropping.done(); }));
  EXPECT_EQ(kernel_->dropped_pages(), std::vector<PageRange>{PageRange::all()});
  close(file);
}

TEST_F(SlowKernel, WhatIsReadDuringADropIsOldToAWriteBehindIt) {
  FileRef file = open("f");
  kernel_->lock_pages(true);
  auto dropping = begin(caches_->notifier().drop_pages_now(&file->node()));
  reactor_.settle();
  read(file, kSomePages);
  kernel_->lock_pages(false);
  EXPECT_TRUE(soon([&] { return dropping.done(); }));
  EXPECT_EQ(old_pages(*file, WriteBy::page_cache, kSomePages).bytes, kSomePages);
  close(file);
}

TEST_F(SlowKernel, PagesMayBeThereWhoseDropWasNotWaitedFor) {
  FileRef file = open("f");
  read(file, kSomePages);
  kernel_->lock_pages(true);
  auto dropping = begin(caches_->notifier().drop_pages_beside_direct(&file->node(), kPart));
  reactor_.settle();
  EXPECT_TRUE(view(file).may_be_dropping());
  reactor_.advance(std::chrono::minutes(1));
  EXPECT_TRUE(dropping.done());
  EXPECT_EQ(caches_->notifier().given_up(), 1U);
  EXPECT_TRUE(view(file).pages().any(kSomePages));
  EXPECT_FALSE(view(file).may_be_dropping());
  kernel_->lock_pages(false);
  close(file);
}

TEST_F(SlowKernel, BehindTheLastPageThatWasDroppedThereAreNone) {
  FileRef file = open("f");
  read(file, kSomePages);
  await(caches_->notifier().drop_pages_beside_direct(&file->node(), kPart));
  kernel_->dropped_pages();
  await(correct_pages(*caches_, file, 100, 9000, 50));
  EXPECT_EQ(kernel_->dropped_pages(), std::vector<PageRange>{});
  close(file);
}

// Otherwise the size of the second change is shown with pages of the first: zeros behind its end.
TEST_F(SlowKernel, AChangeThatIsLearnedDuringADropHasThePagesDroppedAgain) {
  FileRef file = open("f");
  read(file, kSomePages);
  change_elsewhere("f");
  ASSERT_TRUE(run(files_->attributes().revalidate(file)));
  kernel_->lock_pages(true);
  auto showing = begin(caches_->show_changes(&file->node()));
  EXPECT_TRUE(soon([&] { return view(file).may_be_dropping(); }));
  change_elsewhere("f");
  ASSERT_TRUE(run(files_->attributes().revalidate(file)));
  EXPECT_FALSE(showing.done());
  kernel_->lock_pages(false);
  EXPECT_TRUE(soon([&] { return showing.done(); }));
  EXPECT_TRUE(view(file).pages_match(version(file)));
  EXPECT_EQ(kernel_->dropped_pages().size(), 2U);
  close(file);
}

TEST_F(SlowKernel, ASizeThatDiffersDuringADropHasThePagesDroppedAgain) {
  FileRef file = open("f");
  read(file, kSomePages);
  grow_within_a_tick(file, 100);
  kernel_->lock_pages(true);
  auto dropping = begin(caches_->drop_outdated_pages(&file->node()));
  EXPECT_TRUE(soon([&] { return view(file).may_be_dropping(); }));
  grow_within_a_tick(file, 100);
  kernel_->lock_pages(false);
  EXPECT_TRUE(soon([&] { return dropping.done(); }));
  EXPECT_EQ(kernel_->dropped_pages().size(), 2U);
  close(file);
}

TEST_F(SlowKernel, AnOpenerDoesNotKeepPagesThatAnotherHasYetToDrop) {
  FileRef file = open("f");
  bool keeps = false;
  FileRef kept = open("f", &keeps);
  EXPECT_TRUE(keeps);
  view(file).pages_to_be_dropped();
  FileRef other = open("f", &keeps);
  EXPECT_FALSE(keeps);
  view(file).pages_dropped();
  FileRef last = open("f", &keeps);
  EXPECT_TRUE(keeps);
  for (FileRef* one : {&file, &kept, &other, &last}) close(*one);
}

TEST_F(SlowKernel, OrdersAreFollowedInTheirOrder) {
  std::mutex mutex;
  std::vector<int> followed;
  DropThread thread;
  kernel_->lock_pages(true);
  thread.order(kernel_, {[](KernelOrders& kernel) { kernel.drop_pages(1, kSomePages); }, nullptr});
  for (int i = 0; i < 4; ++i) {
    thread.order(kernel_, {[&, i](KernelOrders&) {
                             const std::lock_guard lock(mutex);
                             followed.push_back(i);
                           },
                           nullptr});
  }
  kernel_->lock_pages(false);
  EXPECT_TRUE(soon([&] {
    const std::lock_guard lock(mutex);
    return followed.size() == 4;
  }));
  EXPECT_EQ(followed, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace nfsrdma::fuse::test
