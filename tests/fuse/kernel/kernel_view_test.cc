// What the kernel is taken to believe of a file.
#include "fuse/kernel/kernel_view.h"

#include <gtest/gtest.h>

#include "fuse/kernel/inode.h"
#include "tests/support/virtual_reactor.h"

namespace nfsrdma::fuse {
namespace {

TEST(KernelViewTest, PagesFollowAChangeThatBeginsWithThem) {
  KernelView view;
  view.set_pages(5);
  view.follow_pages(5, 6);
  EXPECT_TRUE(view.pages_match(6));
  view.follow_pages(8, 9);
  EXPECT_TRUE(view.pages_match(6)) << "another client has changed the file in between";
  EXPECT_TRUE(view.pages_stale(9));
}

TEST(KernelViewTest, PagesThatComeDuringDropsStay) {
  KernelView view;
  view.pages_cached({0, 8192});
  view.drop_begins();
  view.pages_cached({0, 4096});
  view.drop_begins();
  view.drop_ends(PageRange::all());
  view.drop_ends(PageRange::all());
  EXPECT_EQ(view.pages_end(), 4096U);
  EXPECT_FALSE(view.may_be_dropping());
}

TEST(KernelViewTest, PagesWhoseDropWasNotSeenStay) {
  KernelView view;
  view.pages_cached({0, 8192});
  view.drop_begins();
  view.drop_ends_unseen();
  EXPECT_EQ(view.pages_end(), 8192U);
  EXPECT_TRUE(view.pages().any({0, 8192}));
  EXPECT_FALSE(view.may_be_dropping());
}

TEST(KernelViewTest, ASizeIsKnownUntilAnotherOneIsTold) {
  KernelView view;
  EXPECT_FALSE(view.size());
  view.advertised_size(100);
  EXPECT_EQ(view.size(), 100U);
  view.wrote(120, true);
  EXPECT_EQ(view.size(), 120U);
  view.advertised_size(120);
  EXPECT_EQ(view.size(), 120U);
  view.advertised_size(50);
  EXPECT_FALSE(view.size()) << "the kernel may have taken it in, or not";
  view.size_is(50);
  view.read_end(40);
  EXPECT_FALSE(view.size());
}

TEST(KernelViewTest, TheKernelMayReadBeyondAnEndThatItMayNotHaveTakenIn) {
  KernelView view;
  EXPECT_FALSE(view.may_read_beyond(0));
  view.advertised_size(100);
  EXPECT_FALSE(view.may_read_beyond(100));
  view.wrote(120, true);
  EXPECT_TRUE(view.may_read_beyond(100));
  view.advertised_size(50);
  EXPECT_TRUE(view.may_read_beyond(50)) << "the kernel may have passed it over";
  view.advertised_size(130);
  view.read_end(20);
  EXPECT_FALSE(view.may_read_beyond(130));
  EXPECT_TRUE(view.may_read_beyond(129));
  view.size_is(50);
  EXPECT_FALSE(view.may_read_beyond(50));
  view.doubt_size();
  EXPECT_TRUE(view.may_read_beyond(40));
  view.forgot_size();
  EXPECT_FALSE(view.may_read_beyond(0));
}

}  // namespace
}  // namespace nfsrdma::fuse
