// Which changes have the kernel drop what, and which must not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "client/requests/create.h"
#include "client/requests/getattr.h"
#include "fuse/kernel/written_pages.h"
#include "tests/fuse/kernel/collected_orders.h"

namespace nfsrdma::fuse::test {
namespace {

using Drops = std::vector<PageRange>;
constexpr PageRange kPages{0, 16384};
const Drops kAll{PageRange::all()};
const Drops kNone;

class Coherence : public KernelTest {
 protected:
  static Task<Gate::Pass> enter(Gate& gate, Gate::Mode mode) {
    auto pass = co_await gate.enter(mode);
    co_return pass;
  }
  client::test::Pending<bool> begin_drop(const FileRef& file, OldPages old) {
    return client::test::Pending<bool>(dropped(*caches_, file, old));
  }

 private:
  static Task<bool> dropped(KernelCaches& caches, FileRef file, OldPages old) {
    co_await drop_old_pages(caches, std::move(file), old);
    co_return true;
  }
};

// A change by another client, whenever it came between own ones, costs the pages at the next look;
// own changes never do.
TEST_F(Coherence, PagesGoForOthersChangesAndForNoOthers) {
  enum Step { read_it, write_it, change_it, look, open_it };
  std::mt19937 random(20261122);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const std::string name = "f" + std::to_string(round);
    FileRef file = open(name);
    const int kinds = round % 3 == 0 ? 3 : 5;  // every third round: no other
    bool changed = false;
    bool wrote_after = false;
    for (int i = 0; i < 12; ++i) {
      Step step = std::array{read_it, write_it, look, change_it, open_it}[random() % kinds];
      if (step == read_it) read(file, kPages);
      if (step == write_it) {
        ASSERT_NO_FATAL_FAILURE(write(file));
        wrote_after |= changed;
      }
      if (step == change_it) {
        ASSERT_NO_FATAL_FAILURE(change_elsewhere(name));
        changed = true;
      }
      if (step == look) {
        show(file);
        EXPECT_EQ(kernel_->dropped_pages(), changed ? kAll : kNone);
        changed = wrote_after = false;
      }
      if (step == open_it) {
        bool keeps = false;
        FileRef other = open(name, &keeps);
        EXPECT_EQ(keeps, !changed);
        EXPECT_EQ(kernel_->dropped_pages(), kNone) << "the open has the kernel drop them";
        changed = wrote_after = false;
        close(other);
      }
      if (!changed) {
        EXPECT_TRUE(file->node().view().pages_match(version(file)));
      } else if (wrote_after) {
        EXPECT_TRUE(file->node().view().pages_stale(version(file)));
      }
    }
    close(file);
    kernel_->dropped_pages();
  }
}

// RFC 8881 section 5.8.1.4 has the change attribute differ, and servers on a file system that knows
// nothing but ctime give the same one for all changes of a clock tick.
TEST_F(Coherence, ASizeThatDiffersIsAChangeWhateverTheChangeAttributeSays) {
  FileRef file = open("f");
  read(file, kPages);
  grow_within_a_tick(file, 100);
  EXPECT_TRUE(caches_->pages_outdated(file->node()));
  show(file);
  EXPECT_EQ(kernel_->dropped_pages(), kAll);
  EXPECT_FALSE(caches_->pages_outdated(file->node()));
  close(file);
}

TEST_F(Coherence, AnOpenKeepsNoPagesOfAnotherSize) {
  FileRef file = open("f");
  read(file, kPages);
  grow_within_a_tick(file, 100);
  bool keeps = true;
  FileRef other = open("f", &keeps);
  EXPECT_FALSE(keeps);
  for (FileRef* one : {&file, &other}) close(*one);
}

TEST_F(Coherence, WhatIsBeingDroppedIsDroppedOnce) {
  FileRef file = open("f");
  read(file, kPages);
  change_elsewhere("f");
  kernel_->lock_pages(true);
  ASSERT_TRUE(run(files_->attributes().revalidate(file)));
  caches_->advertised(file->node());
  caches_->advertised(file->node());
  EXPECT_TRUE(file->node().view().may_be_dropping());
  EXPECT_TRUE(file->node().view().pages_stale(version(file))) << "they are not gone yet";
  kernel_->lock_pages(false);
  EXPECT_TRUE(soon([&] { return file->node().view().pages_match(version(file)); }));
  EXPECT_EQ(kernel_->dropped_pages(), kAll);
  EXPECT_FALSE(file->node().view().pages().any(kPages));
  close(file);
}

TEST_F(Coherence, PagesReadWhileOthersAreDroppedStay) {
  FileRef file = open("f");
  read(file, {0, 8192});
  change_elsewhere("f");
  kernel_->lock_pages(true);
  ASSERT_TRUE(run(files_->attributes().revalidate(file)));
  caches_->advertised(file->node());
  read(file, {4096, 8192});
  kernel_->lock_pages(false);
  EXPECT_TRUE(soon([&] { return !file->node().view().may_be_dropping(); }));
  EXPECT_TRUE(file->node().view().pages().any({4096, 8192}));
  EXPECT_EQ(file->node().view().pages_end(), 8192U);
  close(file);
}

TEST_F(Coherence, NoticedByTheTimerAloneWhileAFileStaysOpen) {
  FileRef file = open("f");
  read(file, kPages);
  change_elsewhere("f");
  caches_->advertised(file->node());
  kernel_->dropped_attributes();
  const cache::AttributePolicy policy;
  reactor_.advance(2 * policy.acregmin);
  EXPECT_TRUE(soon([&] { return file->node().view().pages_match(version(file)); }));
  EXPECT_EQ(kernel_->dropped_attributes(), 1);
  EXPECT_EQ(kernel_->dropped_pages(), kAll);
  reactor_.advance(10 * policy.acregmax);
  EXPECT_EQ(kernel_->dropped_pages(), kNone);
  close(file);
}

// The write's answer tells of a change before it, and makes the attributes fresh.
TEST_F(Coherence, NoticedByTheTimerAlsoAfterAnOwnWrite) {
  FileRef file = open("f");
  read(file, kPages);
  change_elsewhere("f");
  write(file);
  EXPECT_TRUE(file->node().view().pages_stale(version(file)));
  const cache::AttributePolicy policy;
  reactor_.advance(2 * policy.acregmin);
  EXPECT_TRUE(soon([&] { return file->node().view().pages_match(version(file)); }));
  EXPECT_EQ(kernel_->dropped_pages(), kAll);
  close(file);
}

TEST_F(Coherence, NoticedByTheTimerWhenTheWriteBesideItHasEnded) {
  FileRef file = open("f");
  read(file, kPages);
  change_elsewhere("f");
  const cache::AttributePolicy policy;
  {
    const auto writing = run(enter(file->shared->gate, Gate::Mode::shared));
    reactor_.advance(2 * policy.acregmin);
    EXPECT_EQ(kernel_->dropped_pages(), kNone);
  }
  reactor_.advance(2 * policy.acregmax);
  EXPECT_TRUE(soon([&] { return file->node().view().pages_match(version(file)); }));
  EXPECT_EQ(kernel_->dropped_pages(), kAll);
  close(file);
}

// With acregmin=0 the kernel looks by itself.
TEST_F(Coherence, NothingIsOrderedWhereTheKernelLooksItself) {
  cache::AttributePolicy policy;
  policy.acregmin = policy.acregmax = Duration::zero();
  start(policy);
  FileRef file = open("f");
  read(file, kPages);
  caches_->advertised(file->node());
  change_elsewhere("f");
  show(file);
  caches_->drop_outdated_attributes(file->node());
  reactor_.advance(std::chrono::minutes(1));
  EXPECT_EQ(kernel_->dropped_pages(), kNone);
  EXPECT_EQ(kernel_->dropped_attributes(), 0);
  close(file);
}

TEST_F(Coherence, ADirectWriteDropsWhatWasReadBesideIt) {
  FileRef file = open("f");
  const PageRange written{4096, 8192};
  EXPECT_FALSE(old_pages(*file, WriteBy::direct, written).any());
  read(file, kPages);
  const OldPages old = old_pages(*file, WriteBy::direct, written);
  await(drop_old_pages(*caches_, file, old));
  EXPECT_EQ(kernel_->dropped_pages(), Drops{old.bytes});
  EXPECT_LE(old.bytes.begin, written.begin);
  EXPECT_GE(old.bytes.end, written.end);
  EXPECT_FALSE(old_pages(*file, WriteBy::direct, written).any()) << "they are gone";
  close(file);
}

// The last page of a write may be locked for it: the wait for that one is bounded.
TEST_F(Coherence, AWriteGoesOnThoughItsLastPageIsLocked) {
  FileRef file = open("f");
  file->node().watch_writes();
  read(file, kPages);
  const OldPages old = old_pages(*file, WriteBy::page_cache, {0, 6000});
  EXPECT_EQ(old.bytes, (PageRange{0, 6000}));
  auto dropping = begin_drop(file, old);
  EXPECT_TRUE(soon([&] { return dropping.done(); }));
  EXPECT_EQ(kernel_->dropped_pages(), (Drops{{0, 4096}, {4096, 6000}}));
  kernel_->lock_pages(true);
  auto stuck = begin_drop(file, {{4096, 6000}, {0, 6000}});
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_TRUE(stuck.done());
  EXPECT_TRUE(file->node().view().pages().any({4096, 6000})) << "it is not known";
  kernel_->lock_pages(false);
  close(file);
}

TEST_F(Coherence, AnAppendElsewhereThanTheKernelThoughtDropsBothPlaces) {
  FileRef file = open("f");
  await(correct_pages(*caches_, file, 100, 9000, 50));
  EXPECT_EQ(kernel_->dropped_pages(), kNone) << "the kernel has no pages";
  read(file, {0, 8192});
  await(correct_pages(*caches_, file, 100, 9000, 50));
  EXPECT_EQ(kernel_->dropped_pages(), (Drops{{0, 8192}}));
  read(file, {0, 16384});
  await(correct_pages(*caches_, file, 5000, 9000, 50));
  EXPECT_EQ(kernel_->dropped_pages(), (Drops{{4096, 9050}}));
  close(file);
}

TEST_F(Coherence, NamesAreDoubtedAfterOthersChangesOnly) {
  Inode& root = *inodes_->find(InodeTable::kRootId);
  FileRef file = open("f");
  const auto look_at_root = [&] {
    cache::AttributeCache& known = files_->attributes();
    const cache::Issue issue = known.issue();
    auto fresh = run(client::getattr(mount(), caller(), root.handle()));
    ASSERT_TRUE(fresh);
    known.learn(root, *fresh, issue, cache::ChangedBy::anyone);
  };
  look_at_root();  // which has a new file
  caches_->entry_of(file->node(), root, "f");
  caches_->missing_entry(root, "g");
  ASSERT_TRUE(run(client::make_directory(mount(), caller(), root.handle(), "ours", 0755)));
  files_->attributes().names_changed(root, {});
  look_at_root();
  EXPECT_EQ(kernel_->expired_names(), std::vector<std::string>{});
  ASSERT_TRUE(run(client::make_directory(mount(), caller(), root.handle(), "theirs", 0755)));
  look_at_root();
  std::vector<std::string> names;
  EXPECT_TRUE(soon([&] {
    std::ranges::move(kernel_->expired_names(), std::back_inserter(names));
    return names.size() == 2;
  }));
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"f", "g"}));
  close(file);
}

// It would go on taking the name for missing when making it gives EEXIST, and removing it then
// ENOENT.
TEST_F(Coherence, AnOldKernelRemembersNoMissingName) {
  Inode& root = *inodes_->find(InodeTable::kRootId);
  EXPECT_GT(caches_->missing_entry(root, "g").entry_timeout, 0);
  kernel_->believes_refuted_names();
  EXPECT_EQ(caches_->missing_entry(root, "g").entry_timeout, 0);
}

// RFC 8881 section 3.3.3: change_info4 tells whether a change made here was the only one.
TEST_F(Coherence, NamesAreDoubtedWhenOthersChangesCameBeforeOwnOnes) {
  Inode& root = *inodes_->find(InodeTable::kRootId);
  FileRef file = open("f");
  cache::AttributeCache& known = files_->attributes();
  const auto look_at_root = [&] {
    const cache::Issue issue = known.issue();
    auto fresh = run(client::getattr(mount(), caller(), root.handle()));
    ASSERT_TRUE(fresh);
    known.learn(root, *fresh, issue, cache::ChangedBy::anyone);
  };
  const auto make = [&](const char* name) {
    auto made = run(client::make_directory(mount(), caller(), root.handle(), name, 0755));
    EXPECT_TRUE(made);
    return made ? made->directory : client::NameChange();
  };
  look_at_root();
  caches_->entry_of(file->node(), root, "f");
  known.names_changed(root, make("first"));
  known.names_changed(root, make("second"));
  look_at_root();
  EXPECT_EQ(kernel_->expired_names(), std::vector<std::string>{}) << "all changes were ours";
  make("theirs");
  known.names_changed(root, make("third"));
  look_at_root();
  std::vector<std::string> names;
  EXPECT_TRUE(soon([&] {
    std::ranges::move(kernel_->expired_names(), std::back_inserter(names));
    return !names.empty();
  }));
  EXPECT_EQ(names, (std::vector<std::string>{"f"}));
  close(file);
}

TEST_F(Coherence, AttributesAreDroppedOnceWhenTheyMayBeBelievedAndAreWrong) {
  FileRef file = open("f");
  caches_->advertised(file->node(), /*asked=*/false);
  caches_->drop_outdated_attributes(file->node());
  EXPECT_EQ(kernel_->dropped_attributes(), 0);
  write(file);
  caches_->drop_outdated_attributes(file->node());
  caches_->drop_outdated_attributes(file->node());
  EXPECT_EQ(kernel_->dropped_attributes(), 1);
  close(file);
}

TEST_F(Coherence, TheSizeIsCertainUntilSomebodyElseChangesIt) {
  FileRef file = open("f");
  caches_->advertised(file->node());
  EXPECT_TRUE(file->node().size_is_shown());
  write(file);
  EXPECT_FALSE(file->node().size_is_shown());
  file->node().view().wrote(file->inode->size(), true);
  EXPECT_TRUE(file->node().size_is_shown()) << "the kernel has counted its own write";
  change_elsewhere("f");
  show(file);
  EXPECT_FALSE(file->node().size_is_shown()) << "it may have passed over the answer";
  close(file);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
