// Which version the kernel's cached pages of a file are taken for.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "client/files/open_files.h"
#include "fuse/kernel/written_pages.h"
#include "tests/fuse/ops/served_files.h"

namespace nfsrdma::fuse::test {
namespace {

class CachedPages : public ServedFiles {
 protected:
  /// A change that did not come through the file system: as far as it knows, another client's.
  void change_elsewhere() {
    client::Opened elsewhere = open_file("f", nfs4::OPEN4_SHARE_ACCESS_BOTH);
    ASSERT_TRUE(write_text(elsewhere, 0, "changed elsewhere"));
    ASSERT_TRUE(run(mount().opens().close(std::move(elsewhere.open))));
  }
  static std::uint64_t change(const FileRef& file) {
    return file->inode->attributes().value().change;
  }
};

TEST_F(CachedPages, OwnWritesLeaveThemRight) {
  FileRef file = open("f");
  const cache::InodeRef known = file->inode;  // as the kernel knows it
  const std::uint64_t before = change(file);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(gather(file, 0, "text"));
    flush(file);
  }
  EXPECT_NE(change(file), before);
  EXPECT_TRUE(file->node().view().pages_match(change(file)));
  close(file);
  OpenAnswer info;
  file = open("f", O_RDWR, &info);
  EXPECT_TRUE(info.keep_cache);
}

TEST_F(CachedPages, AnotherClientsWriteMakesThemWrong) {
  FileRef file = open("f");
  change_elsewhere();
  EXPECT_TRUE(file->node().view().pages_match(change(file))) << "the change is not known yet";
  OpenAnswer info;
  FileRef again = open("f", O_RDWR, &info);
  EXPECT_FALSE(info.keep_cache);
  EXPECT_TRUE(file->node().view().pages_match(change(file)));
}

TEST_F(CachedPages, AnotherClientsWriteBeforeOursIsNotTakenForOurs) {
  FileRef file = open("f");
  const cache::InodeRef known = file->inode;
  change_elsewhere();
  ASSERT_TRUE(gather(file, 100, "text"));
  flush(file);
  EXPECT_TRUE(file->node().view().pages_stale(change(file)));
  close(file);
  OpenAnswer info;
  file = open("f", O_RDWR, &info);
  EXPECT_FALSE(info.keep_cache);
}

TEST_F(CachedPages, OwnWritesSideBySideAreOurs) {
  FileRef file = open("f");
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(gather(file, static_cast<std::uint64_t>(i) * 1000, "text"));
    fs_->files().writes().behind().send(*file->shared);
  }
  flush(file);
  EXPECT_TRUE(file->node().view().pages_match(change(file)));
}

TEST_F(CachedPages, WhatWasReadBesideADirectWriteIsDropped) {
  FileRef file = open("f");
  const PageRange written{4096, 8192};
  EXPECT_FALSE(old_pages(*file, WriteBy::direct, written).any()) << "nothing was read";
  file->node().view().pages_cached({0, 16384});
  const OldPages old = old_pages(*file, WriteBy::direct, written);
  EXPECT_LE(old.bytes.begin, written.begin);
  EXPECT_GE(old.bytes.end, written.end);
  EXPECT_FALSE(old_pages(*file, WriteBy::page_cache, written).any()) << "they are its own";
}

TEST_F(CachedPages, WhatWasReadSinceADropAndIsWrittenThenIsDroppedAgain) {
  FileRef file = open("f");
  file->confirm_drop();
  const PageRange page{0, 4096};
  file->node().watch_writes();
  file->seen->after_drop.add(page);
  EXPECT_FALSE(old_pages(*file, WriteBy::write_back, page).any()) << "READs wait for it";
  EXPECT_TRUE(old_pages(*file, WriteBy::page_cache, page).any());
  EXPECT_FALSE(old_pages(*file, WriteBy::page_cache, page).any());
}

TEST_F(CachedPages, AnOpenThatDropsMayTakeWhatAnotherWrites) {
  FileRef writer = open("f", O_RDWR);
  writer->node().view().forget_pages();
  OpenAnswer info;
  FileRef reader = open("f", O_RDONLY, &info);
  ASSERT_FALSE(info.keep_cache);
  writer->seen->after_drop.add({0, 4096});
  EXPECT_TRUE(old_pages(*writer, WriteBy::page_cache, {0, 4096}).any());
}

TEST_F(CachedPages, AnOpenWithoutOthersCannot) {
  FileRef file = open("f", O_RDWR);
  file->seen->after_drop.add({0, 4096});
  EXPECT_FALSE(old_pages(*file, WriteBy::page_cache, {0, 4096}).any());
}

TEST_F(CachedPages, AWriteLeavesTheWholePagesThatItFilled) {
  FileRef file = open("f");
  Inode& inode = file->node();
  note_whole_pages(inode, 100, 4096);
  EXPECT_EQ(inode.view().pages_end(), 0U) << "no page is whole";
  note_whole_pages(inode, 0, 4096);
  EXPECT_EQ(inode.view().pages_end(), 4096U);
  note_whole_pages(inode, 8000, 8484);
  EXPECT_EQ(inode.view().pages_end(), 16384U);
  note_whole_pages(inode, 16384, 4095);
  EXPECT_EQ(inode.view().pages_end(), 16384U);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
