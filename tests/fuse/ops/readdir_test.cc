// READDIR and READDIRPLUS: every name once, from any offset, and what is counted.
#include <dirent.h>

#include <algorithm>
#include <set>

#include "fuse/convert/attributes.h"
#include "fuse/ops/directory_answer.h"
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

TEST_F(ReaddirRequest, OffsetsAreSmallAndGoBack) {
  constexpr std::size_t kFiles = 3000;
  for (std::size_t i = 0; i < kFiles; ++i) server_.write_file("file" + std::to_string(i), "");
  const Opened directory = open_directory();
  std::vector<ListedEntry> all;
  std::uint64_t offset = 0;
  for (;;) {
    const auto entries = list(directory, offset);
    if (entries.empty()) break;
    for (const ListedEntry& entry : entries) {
      EXPECT_EQ(entry.next, all.size() + 1) << entry.name;
      all.push_back(entry);
    }
    offset = all.back().next;
  }
  EXPECT_EQ(all.size(), kFiles + 2);
  const int pages = server_.successes_of(nfs4::OP_READDIR);
  EXPECT_GT(pages, 2);
  for (std::size_t at = all.size() - 1; at > 2; at -= all.size() / 10) {
    const auto entries = list(directory, all[at - 1].next, 512);
    ASSERT_FALSE(entries.empty());
    EXPECT_EQ(entries.front().name, all[at].name);
    EXPECT_EQ(entries.front().next, all[at].next);
    if (at <= all.size() / 10) break;
  }
  EXPECT_EQ(server_.successes_of(nfs4::OP_READDIR), pages) << "the pages are still there";
  EXPECT_EQ(ask(FUSE_READDIR, kRoot, read_in(directory, all.back().next + 1, kRoom)).error, EINVAL);
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
  list(directory, 0);
  server_.fail(nfs4::OP_READDIR, nfs4::NFS4ERR_ACCESS);
  EXPECT_EQ(ask(FUSE_READDIR, kRoot, read_in(directory, 0, kRoom)).error, EACCES);
  close_directory(directory);
  EXPECT_EQ(ask(FUSE_READDIR, kRoot, read_in(directory, 0, kRoom)).error, EBADF);
}

TEST_F(ReaddirRequest, AVerifierThatIsRefusedIsForgotten) {
  server_.write_file("f", "");
  const Opened directory = open_directory();
  list(directory, 0);
  server_.fail(nfs4::OP_READDIR, nfs4::NFS4ERR_NOT_SAME);
  EXPECT_EQ(list(directory, 0).size(), 3U);
  close_directory(directory);
}

/// Entries as servers send them that do not know, or tell, everything.
class EntryNumbers : public ReaddirRequest {
 protected:
  using Kind = DirectoryAnswer::Kind;

  void SetUp() override {
    ReaddirRequest::SetUp();
    directory_ = new cache::Directory(reactor_, root_inode());
    directory_->stream.replace({0, fs_->attributes().issue(), directory_->inode->epoch()}, {});
    entry_.name = "entry";
    entry_.cookie = 3;
    told_.fileid = 42;
    told_.mounted_on_fileid = 43;
    told_.type = nfs4::NF4DIR;
    told_.rdattr_error = nfs4::NFS4ERR_ACCESS;
    told_.fsid = {~root_fsid().major, 7};
  }
  void TearDown() override {
    directory_.reset();
    ReaddirRequest::TearDown();
  }
  InodeRef root_inode() { return fs_->inodes().find(kRoot); }
  const cache::FileSystemId& root_fsid() { return root_inode()->attributes().value().fsid; }
  /// The entry as the kernel is told of it.
  ListedEntry answered(Kind kind) {
    DirectoryAnswer answer(*fs_, kind, slots_->acquire(), kSlotBytes);
    EXPECT_TRUE(answer.add(*directory_, entry_, answer.inode_of(*directory_, entry_)));
    return only(answer, kind);
  }
  static ListedEntry only(const DirectoryAnswer& answer, Kind kind) {
    const auto data = answer.data();
    const auto entries =
        listed({0, {data.begin(), data.end()}}, kind == Kind::names_and_attributes);
    EXPECT_EQ(entries.size(), 1U);
    return entries.empty() ? ListedEntry{} : entries.front();
  }
  static client::FileHandle handle(std::string_view name) {
    client::FileHandle handle;
    EXPECT_TRUE(handle.assign(std::as_bytes(std::span(name))));
    return handle;
  }
  /// Its number, in listings of both kinds.
  std::uint64_t number() {
    const std::uint64_t number = answered(Kind::names).number;
    EXPECT_EQ(answered(Kind::names_and_attributes).number, number);
    return number;
  }
  std::uint64_t elsewhere(std::uint64_t fileid) {
    return inode_number(fileid, {told_.fsid.major, told_.fsid.minor}, root_fsid());
  }

  cache::DirectoryRef directory_;
  client::Entry entry_;
  client::Attributes& told_ = entry_.attributes;
};

// RFC 8881 section 18.23.3: in a directory that may be read and not searched; a referral.
TEST_F(EntryNumbers, OneThatTheServerTellsNothingOfIsNotPassedOver) {
  told_.present = {nfs4::FATTR4_RDATTR_ERROR};
  EXPECT_EQ(number(), kUnknownInode);
  EXPECT_EQ(answered(Kind::names).type, static_cast<std::uint32_t>(DT_UNKNOWN));
  EXPECT_EQ(answered(Kind::names_and_attributes).entry.nodeid, 0U);
}

TEST_F(EntryNumbers, AnotherFileSystemThatIsNotTellingHasTheNumberOfWhereItIsMounted) {
  told_.present = {nfs4::FATTR4_RDATTR_ERROR, nfs4::FATTR4_MOUNTED_ON_FILEID};
  EXPECT_EQ(number(), 43U);
  told_.present.set(nfs4::FATTR4_FILEID);
  EXPECT_EQ(number(), 42U);
}

TEST_F(EntryNumbers, AreThoseOfStatInTheServersOtherFileSystems) {
  told_.present = {nfs4::FATTR4_TYPE, nfs4::FATTR4_CHANGE, nfs4::FATTR4_FSID, nfs4::FATTR4_FILEID};
  ASSERT_NE(elsewhere(42), 42U);
  EXPECT_EQ(number(), elsewhere(42)) << "without a handle";
  entry_.handle = handle("elsewhere");
  entry_.has_attributes = true;
  const ListedEntry shown = answered(Kind::names_and_attributes);
  ASSERT_NE(shown.entry.nodeid, 0U);
  EXPECT_EQ(shown.entry.attr.ino, elsewhere(42));
  EXPECT_EQ(number(), elsewhere(42));

  // Listed itself, its entries are of its file system, whether they say so or not.
  directory_ = new cache::Directory(reactor_, fs_->inodes().find(shown.entry.nodeid));
  entry_.handle = {};
  told_.present = {nfs4::FATTR4_FILEID};
  told_.fileid = 44;
  EXPECT_EQ(number(), elsewhere(44));
}

TEST_F(EntryNumbers, TheParentIsNumberedAsStatShowsIt) {
  told_.present = {nfs4::FATTR4_TYPE, nfs4::FATTR4_CHANGE, nfs4::FATTR4_FSID, nfs4::FATTR4_FILEID};
  cache::Inode& outer = *directory_->inode;
  outer.found_in(outer);
  DirectoryAnswer of_root(*fs_, Kind::names, slots_->acquire(), kSlotBytes);
  of_root.add_dots(*root_inode(), cache::DirectoryPlaces::kAfterDot);
  EXPECT_EQ(only(of_root, Kind::names).number, getattr(kRoot).ino);

  const auto adopt = [this](std::string_view name, std::uint64_t fileid) {
    told_.fileid = fileid;
    return *fs_->attributes().adopt(handle(name), told_, fs_->attributes().issue());
  };
  const cache::InodeRef parent = adopt("parent", 42);
  const cache::InodeRef child = adopt("child", 44);
  child->found_in(*parent);
  DirectoryAnswer answer(*fs_, Kind::names, slots_->acquire(), kSlotBytes);
  answer.add_dots(with_view(*child), cache::DirectoryPlaces::kAfterDot);
  EXPECT_EQ(only(answer, Kind::names).number, fs_->kernel().stat_of(with_view(*parent)).st_ino);
  EXPECT_NE(only(answer, Kind::names).number, 42U);
}

/// A reader that takes its time over one page of names, while others change them.
class SlowReader : public ReaddirRequest {
 protected:
  static constexpr std::uint32_t kPart = 4096;

  void SetUp() override {
    ReaddirRequest::SetUp();
    for (int i = 0; i < 100; ++i) server_.write_file("file" + std::to_string(i), "");
    directory_ = open_directory();
  }
  /// All entries but the dots that come after the first part and a pause.
  std::vector<ListedEntry> after(Duration pause) {
    std::uint64_t offset = list(directory_, 0, kPart, /*plus=*/true).back().next;
    reactor_.advance(pause);
    std::vector<ListedEntry> later;
    for (;;) {
      const auto entries = list(directory_, offset, kPart, /*plus=*/true);
      if (entries.empty()) return later;
      later.insert(later.end(), entries.begin(), entries.end());
      offset = entries.back().next;
    }
  }
  std::uint64_t period() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                          fs_->inodes().find(kRoot)->attributes().period())
                                          .count());
  }

  Opened directory_;
};

TEST_F(SlowReader, IsNotToldThatOldNamesAreThere) {
  const auto entries = after(std::chrono::minutes(10));
  EXPECT_GT(entries.size(), 50U);
  for (const ListedEntry& entry : entries) EXPECT_EQ(entry.entry.nodeid, 0U) << entry.name;
  EXPECT_EQ(server_.successes_of(nfs4::OP_READDIR), 1) << "it is one page";
  close_directory(directory_);
}

TEST_F(SlowReader, BelievesNamesForAPeriodFromWhenTheyWereAskedFor) {
  constexpr std::uint64_t kPause = 5;
  const auto entries = after(std::chrono::seconds(kPause));
  EXPECT_GT(entries.size(), 50U);
  ASSERT_GT(period(), kPause);
  for (const ListedEntry& entry : entries) {
    EXPECT_NE(entry.entry.nodeid, 0U) << entry.name;
    EXPECT_GT(entry.entry.entry_valid, 0U);
    EXPECT_LE(entry.entry.entry_valid, period() - kPause) << entry.name;
    EXPECT_EQ(entry.entry.attr_valid, 0U) << "a file's attributes hold for three seconds";
  }
  close_directory(directory_);
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

// Its names would be believed no more, and each would be looked up.
TEST_F(LongDirectory, APageThatWasAskedForLongAgoIsAskedForAnew) {
  std::uint64_t offset = list(directory_, 0, 4096).back().next;
  offset = list(directory_, offset, 4096).back().next;
  reactor_.settle();
  ASSERT_EQ(pages(), 2) << "one is asked for ahead";
  reactor_.advance(std::chrono::minutes(10));
  EXPECT_GT(rest(offset).size(), 2000U);
  constexpr int kFirstAndOldAndAnew = 3;
  EXPECT_EQ(pages() - static_cast<int>(ahead()), kFirstAndOldAndAnew);
  close_directory(directory_);
}

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
