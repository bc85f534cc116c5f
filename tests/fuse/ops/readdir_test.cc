// READDIR and READDIRPLUS: every name once, from any offset, and what is counted.
#include <dirent.h>

#include <algorithm>
#include <set>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class ReaddirRequest : public KernelRequests {
 protected:
  static constexpr std::uint32_t kRoom = 65536;

  std::vector<ListedEntry> list(const Opened& directory, std::uint64_t offset,
                                std::uint32_t size = kRoom, bool plus = false) {
    const Answer answer = ask(plus ? FUSE_READDIRPLUS : FUSE_READDIR, directory.node,
                              read_in(directory, offset, size));
    EXPECT_EQ(answer.error, 0);
    EXPECT_LE(answer.body.size(), size);
    return listed(answer, plus);
  }
  static std::set<std::string> names(const std::vector<ListedEntry>& entries) {
    std::set<std::string> found;
    for (const ListedEntry& entry : entries) EXPECT_TRUE(found.insert(entry.name).second);
    return found;
  }
};

TEST_F(ReaddirRequest, ListsEveryNameOnceWithItsType) {
  server_.write_file("f", "");
  std::filesystem::create_directory(server_.path("d"));
  const Opened directory = open_directory();
  const auto entries = list(directory, 0);
  EXPECT_EQ(names(entries), (std::set<std::string>{".", "..", "d", "f"}));
  for (const ListedEntry& entry : entries) {
    EXPECT_EQ(entry.type, static_cast<std::uint32_t>(entry.name == "f" ? DT_REG : DT_DIR));
    if (entry.name == "f") {
      EXPECT_EQ(entry.number, lookup("f").attr.ino);
    }
  }
  EXPECT_TRUE(list(directory, entries.back().next).empty());
  close_directory(directory);
}

TEST_F(ReaddirRequest, GoesOnBehindAnyEntry) {
  constexpr int kFiles = 100;
  for (int i = 0; i < kFiles; ++i) server_.write_file("file" + std::to_string(i), "");
  const Opened directory = open_directory();
  std::set<std::string> found;
  std::uint64_t offset = 0;
  for (;;) {
    const auto entries = list(directory, offset, 512);
    if (entries.empty()) break;
    EXPECT_LT(entries.size(), 20U);
    for (const ListedEntry& entry : entries) EXPECT_TRUE(found.insert(entry.name).second);
    offset = entries.back().next;
  }
  EXPECT_EQ(found.size(), kFiles + 2U);
  const auto all = list(directory, 0);
  ASSERT_EQ(all.size(), kFiles + 2U);
  const auto rest = list(directory, all[50].next);
  ASSERT_EQ(rest.size(), all.size() - 51);
  EXPECT_EQ(rest.front().name, all[51].name);
  EXPECT_EQ(list(directory, all[0].next).front().name, all[1].name) << "behind the first dot";
  close_directory(directory);
}

TEST_F(ReaddirRequest, FromTheBeginItIsReadAnew) {
  const Opened directory = open_directory();
  EXPECT_EQ(list(directory, 0).size(), 2U);
  server_.write_file("f", "");
  EXPECT_EQ(list(directory, 0).size(), 3U);
  close_directory(directory);
}

TEST_F(ReaddirRequest, WithAttributesEachEntryIsALookup) {
  server_.write_file("f", "text");
  const Opened directory = open_directory();
  std::uint64_t node = 0;
  for (const ListedEntry& entry : list(directory, 0, kRoom, true)) {
    if (entry.name != "f") {
      EXPECT_EQ(entry.entry.nodeid, 0U) << entry.name;
      continue;
    }
    node = entry.entry.nodeid;
    EXPECT_EQ(entry.entry.attr.size, 4U);
    EXPECT_GT(entry.entry.attr_valid, 0U);
    EXPECT_GT(entry.entry.entry_valid, 0U);
  }
  ASSERT_TRUE(known(node));
  forget(node, 1);
  EXPECT_FALSE(known(node));
  close_directory(directory);
}

TEST_F(ReaddirRequest, WhatHasNoRoomIsNotCounted) {
  for (int i = 0; i < 10; ++i) server_.write_file("file" + std::to_string(i), "");
  const Opened directory = open_directory();
  std::uint64_t offset = 0;
  std::size_t counted = 0;
  for (;;) {
    const auto entries = list(directory, offset, 500, true);
    if (entries.empty()) break;
    offset = entries.back().next;
    for (const ListedEntry& entry : entries) {
      if (entry.entry.nodeid == 0) continue;
      ++counted;
      forget(entry.entry.nodeid, 1);
      EXPECT_FALSE(known(entry.entry.nodeid)) << entry.name;
    }
  }
  EXPECT_EQ(counted, 10U);
  close_directory(directory);
}

TEST_F(ReaddirRequest, AnAnswerThatNobodyTakesCountsNothing) {
  server_.write_file("f", "");
  const Opened directory = open_directory();
  kernel_->takes_answers = false;
  begin(FUSE_READDIRPLUS, kRoot, read_in(directory, 0, kRoom));
  reactor_.settle();
  kernel_->takes_answers = true;
  EXPECT_EQ(fs_counter("fs_inodes"), 1U) << "the root alone";
  close_directory(directory);
}

TEST_F(ReaddirRequest, ErrorsAreTold) {
  const Opened directory = open_directory();
  server_.fail(nfs4::OP_READDIR, nfs4::NFS4ERR_ACCESS);
  EXPECT_EQ(ask(FUSE_READDIR, kRoot, read_in(directory, 0, kRoom)).error, EACCES);
  close_directory(directory);
  EXPECT_EQ(ask(FUSE_READDIR, kRoot, read_in(directory, 0, kRoom)).error, EBADF);
}

TEST_F(ReaddirRequest, AVerifierThatIsRefusedIsForgotten) {
  server_.write_file("f", "");
  const Opened directory = open_directory();
  server_.fail(nfs4::OP_READDIR, nfs4::NFS4ERR_NOT_SAME);
  EXPECT_EQ(list(directory, 0).size(), 3U);
  close_directory(directory);
}

class LongDirectory : public ReaddirRequest {
 protected:
  static constexpr int kFiles = 3000;

  void SetUp() override {
    ReaddirRequest::SetUp();
    for (int i = 0; i < kFiles; ++i) server_.write_file("file" + std::to_string(i), "");
    directory_ = open_directory();
  }
  /// All from `offset` on.
  std::set<std::string> rest(std::uint64_t offset) {
    std::set<std::string> found;
    for (;;) {
      const auto entries = list(directory_, offset, 4096);
      if (entries.empty()) return found;
      for (const ListedEntry& entry : entries) EXPECT_TRUE(found.insert(entry.name).second);
      offset = entries.back().next;
    }
  }
  int pages() const { return server_.successes_of(nfs4::OP_READDIR); }
  std::uint64_t ahead() const { return fs_counter("cache_directory_pages_ahead"); }

  Opened directory_;
};

TEST_F(LongDirectory, TheNextPageIsAskedForBeforeItIsNeeded) {
  std::uint64_t offset = list(directory_, 0, 4096).back().next;
  EXPECT_EQ(pages(), 1) << "a look at the beginning costs nothing more";
  offset = list(directory_, offset, 4096).back().next;
  EXPECT_EQ(pages(), 2);
  EXPECT_EQ(ahead(), 0U);
  rest(offset);
  EXPECT_GE(pages(), 3);
  EXPECT_EQ(ahead(), static_cast<std::uint64_t>(pages() - 1)) << "all but the first";
  close_directory(directory_);
}

TEST_F(LongDirectory, EveryNameIsThereOnce) {
  EXPECT_EQ(rest(0).size(), kFiles + 2U);
  EXPECT_EQ(rest(0).size(), kFiles + 2U) << "from the begin again";
  close_directory(directory_);
}

TEST_F(LongDirectory, AReaderThatJumpsGetsWhatIsThere) {
  const auto first = list(directory_, 0, 4096);
  const auto second = list(directory_, first.back().next, 4096);
  const auto again = list(directory_, first.front().next, 4096);
  EXPECT_EQ(again.front().name, first[1].name);
  EXPECT_EQ(rest(first.back().next).size(), kFiles + 2U - first.size());
  close_directory(directory_);
}

TEST_F(LongDirectory, FromTheBeginNothingOldIsUsed) {
  const std::uint64_t offset = list(directory_, 0, 4096).back().next;
  list(directory_, offset, 4096);
  for (int i = 0; i < kFiles; ++i)
    std::filesystem::remove(server_.path("file" + std::to_string(i)));
  EXPECT_EQ(rest(0).size(), 2U);
  close_directory(directory_);
}

// An entry of an older page would not be shown with its attributes.
TEST_F(LongDirectory, WhatIsOlderThanAChangeMadeHereIsNotUsed) {
  std::uint64_t offset = list(directory_, 0, 4096).back().next;
  list(directory_, offset, 4096);
  ASSERT_EQ(pages(), 2) << "one is asked for";
  ASSERT_EQ(ask(FUSE_UNLINK, kRoot, "file0").error, 0);
  list(directory_, offset, 4096);
  EXPECT_EQ(pages(), 2) << "no more while names change";
  bool shown = false;
  while (pages() == 2) {
    const auto entries = list(directory_, offset, 4096, /*plus=*/true);
    ASSERT_FALSE(entries.empty());
    offset = entries.back().next;
    shown = entries.back().entry.nodeid != 0;
  }
  EXPECT_TRUE(shown);
  EXPECT_EQ(ahead(), 0U);
  close_directory(directory_);
}

// RFC 8881 section 18.23.3: the verifier of another boot is NFS4ERR_NOT_SAME.
TEST_F(LongDirectory, GoesOnWithoutAVerifierThatTheServerDoesNotKnow) {
  const auto first = list(directory_, 0, 4096);
  server_.reboot(0);
  EXPECT_EQ(rest(first.back().next).size(), kFiles + 2U - first.size());
  close_directory(directory_);
}

TEST_F(LongDirectory, AFailureOfItIsNobodys) {
  const std::uint64_t offset = list(directory_, 0, 4096).back().next;
  server_.fail(nfs4::OP_READDIR, nfs4::NFS4ERR_IO);
  const auto second = list(directory_, offset, 4096);
  EXPECT_EQ(server_.failures_left(nfs4::OP_READDIR), 0);
  rest(second.back().next);
  EXPECT_EQ(fs_counter("errors_readdir_NFS4ERR_IO"), 0U);
  close_directory(directory_);
}

TEST_F(LongDirectory, ItIsWaitedForWhenTheMountEnds) {
  const std::uint64_t offset = list(directory_, 0, 4096).back().next;
  hold(nfs4::OP_READDIR);
  list(directory_, offset, 4096);
  close_directory(directory_);
  bool ended = false;
  spawn([](FileSystem& fs, bool& done) -> Task<void> {
    co_await fs.finish();
    done = true;
  }(*fs_, ended));
  reactor_.settle();
  EXPECT_FALSE(ended);
  server_.fate = nullptr;
  server_.release_held();
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
