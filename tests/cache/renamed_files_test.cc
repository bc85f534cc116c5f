// Files that are replaced or removed while they are open, and what is known of the directories.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "cache/name/change_names.h"
#include "cache/name/make_names.h"
#include "client/requests/errno.h"
#include "tests/cache/served_files.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::cache::test {
namespace {

using client::test::Arrival;
using client::test::Fate;
using client::test::Pending;

class RenamedFiles : public ServedFiles {
 protected:
  Task<Result<void>> begin_rename(const std::string& from, const std::string& to) {
    return rename(files().silly_names(), files().writes().behind(), caller(), Place{root_, from},
                  Place{root_, to});
  }
  Task<Result<void>> begin_unlink(const std::string& name) {
    return unlink(files().silly_names(), caller(), Place{root_, name});
  }
  InodeRef directory(const std::string& name) {
    std::filesystem::create_directory(server_.path(name));
    auto found = run(cache::lookup(files().attributes(), caller(), root_, name));
    EXPECT_TRUE(found) << found.error().message();
    return *found;
  }
  int silly_names() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(server_.path("")))
      count += entry.path().filename().string().starts_with(".nfs") ? 1 : 0;
    return count;
  }
  bool fresh(const InodeRef& inode) { return files().attributes().fresh(*inode); }
  void look_at(const InodeRef& inode) {
    ASSERT_TRUE(run(files().attributes().revalidate(inode, caller())));
    ASSERT_TRUE(fresh(inode));
  }
};

TEST_F(RenamedFiles, AnOpenFileThatIsReplacedKeepsItsDataAndItsNameIsNeverMissing) {
  FileRef file = open("to");
  ASSERT_TRUE(gather(file, 0, "old"));
  server_.write_file("from", "new");
  ASSERT_TRUE(run(begin_rename("from", "to")));
  EXPECT_EQ(server_.read_file("to"), "new");
  EXPECT_EQ(silly_names(), 1);
  EXPECT_EQ(server_.successes_of(nfs4::OP_LINK), 1) << "a second name, then it is replaced";
  EXPECT_EQ(server_.successes_of(nfs4::OP_RENAME), 1);
  look_at(root_);
  close(file);
  EXPECT_EQ(silly_names(), 0);
  EXPECT_FALSE(fresh(root_)) << "a name is gone";
}

// rename(2) does nothing then.
TEST_F(RenamedFiles, AFileIsNotReplacedByItself) {
  FileRef file = open("one");
  std::filesystem::create_hard_link(server_.path("one"), server_.path("two"));
  ASSERT_TRUE(run(begin_rename("one", "two")));
  EXPECT_EQ(silly_names(), 0);
}

// The kernel's look-up has found the file: the server is not asked about the name again.
TEST_F(RenamedFiles, AnOpenFileThatIsRemovedIsKept) {
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "kept"));
  ASSERT_TRUE(run(unlink(files().silly_names(), caller(), Place{root_, "f", file->inode})));
  EXPECT_FALSE(server_.exists("f"));
  EXPECT_EQ(silly_names(), 1);
  commit(file);
  EXPECT_EQ(take_error(file), 0);
  close(file);
  EXPECT_EQ(silly_names(), 0);
}

// A mount that ended before its files were closed leaves them behind.
TEST_F(RenamedFiles, ANameThatIsLeftOverIsNotReplaced) {
  FileRef file = open("f");
  const std::string leftover =
      fmt::format(".nfs{:016x}{:08x}", file->inode->attributes().value().fileid, 1);
  server_.write_file(leftover, "of an earlier mount");
  ASSERT_TRUE(run(begin_unlink("f")));
  EXPECT_EQ(silly_names(), 2);
  EXPECT_EQ(server_.read_file(leftover), "of an earlier mount");
  close(file);
  EXPECT_EQ(silly_names(), 1);
}

TEST_F(RenamedFiles, AFileThatCannotBeReplacedHasItsNameAgain) {
  FileRef file = open("to");
  auto renamed = run(begin_rename("missing", "to"));
  ASSERT_FALSE(renamed);
  EXPECT_EQ(client::to_errno(renamed.error()), ENOENT);
  EXPECT_TRUE(server_.exists("to"));
  EXPECT_EQ(silly_names(), 0);
  EXPECT_FALSE(file->shared->silly);
}

TEST_F(RenamedFiles, AFileWhoseServerHasNoLinksHasItsNameAgain) {
  FileRef file = open("to");
  server_.fail(nfs4::OP_LINK, nfs4::NFS4ERR_NOTSUPP);
  ASSERT_FALSE(run(begin_rename("missing", "to")));
  EXPECT_TRUE(server_.exists("to"));
  EXPECT_EQ(silly_names(), 0);
  EXPECT_FALSE(file->shared->silly);
  close(file);
  EXPECT_TRUE(server_.exists("to"));
}

/// rename(2) over a file that is open, at a server without links: the file is renamed away first,
/// and its silly name is the only one that it has.
class ReplacedWithoutLinks : public RenamedFiles {
 protected:
  /// The calls with this operation are held from the `first` one on.
  void hold_from(nfs4::nfs_opnum4 operation, int first) {
    server_.fate = [operation, first, arrived = 0](const Arrival& arrival) mutable {
      return arrival.has(operation) && ++arrived >= first ? Fate::hold : Fate::answer;
    };
  }
  /// begin_rename() up to where the RENAME that is held has arrived.
  Pending<Result<void>> begin(const std::string& from, int held) {
    server_.write_file("other", "");
    server_.fail(nfs4::OP_LINK, nfs4::NFS4ERR_NOTSUPP);
    hold_from(nfs4::OP_RENAME, held);
    Pending<Result<void>> renaming(begin_rename(from, "to"));
    reactor_.settle();
    EXPECT_FALSE(renaming.done());
    EXPECT_EQ(silly_names(), 1);
    return renaming;
  }
  static constexpr int kAway = 1;  ///< the RENAME to the silly name
  static constexpr int kOver = 2;  ///< the one that was asked for
};

TEST_F(ReplacedWithoutLinks, OneThatIsClosedMeanwhileHasItsNameAgainWhenThatFails) {
  for (const int held : {kAway, kOver}) {
    FileRef file = open("to");
    auto renaming = begin("missing", held);
    close(file);
    EXPECT_EQ(silly_names(), 1) << "it is the only name";
    let_go();
    EXPECT_FALSE(finish(renaming));
    EXPECT_TRUE(server_.exists("to")) << held;
    EXPECT_EQ(silly_names(), 0);
    reactor_.advance(std::chrono::seconds(1));
  }
}

TEST_F(ReplacedWithoutLinks, OneThatIsClosedMeanwhileGoesWhenItIsReplaced) {
  for (const int held : {kAway, kOver}) {
    FileRef file = open("to");
    server_.write_file("from", "new");
    auto renaming = begin("from", held);
    close(file);
    let_go();
    EXPECT_TRUE(finish(renaming));
    EXPECT_EQ(server_.read_file("to"), "new");
    EXPECT_EQ(silly_names(), 0) << held;
  }
}

TEST_F(ReplacedWithoutLinks, OneWhoseCloseIsUnderWayGoesAfterIt) {
  FileRef file = open("to");
  server_.write_file("from", "new");
  auto renaming = begin("from", kOver);
  hold(nfs4::OP_CLOSE);
  Pending<bool> closing(ended(begin_close(std::move(file))));
  reactor_.settle();
  server_.disconnect();
  EXPECT_TRUE(finish(renaming));
  EXPECT_FALSE(closing.done());
  EXPECT_EQ(silly_names(), 1) << "the server has it open";
  let_go();
  EXPECT_TRUE(finish(closing));
  EXPECT_EQ(silly_names(), 0);
}

// No program can be told: the log says where the data is.
TEST_F(ReplacedWithoutLinks, OneThatDoesNotGetItsNameBackIsNotRemoved) {
  FileRef file = open("to");
  ASSERT_TRUE(gather(file, 0, "kept"));
  auto renaming = begin("missing", kOver);
  server_.fail(nfs4::OP_RENAME, nfs4::NFS4ERR_IO);
  let_go();
  EXPECT_FALSE(finish(renaming));
  EXPECT_EQ(server_.failures_left(nfs4::OP_RENAME), 0);
  close(file);
  EXPECT_EQ(silly_names(), 1);
}

TEST_F(RenamedFiles, BothDirectoriesAreAskedForAgain) {
  const InodeRef from = directory("from");
  const InodeRef to = directory("to");
  std::filesystem::create_directory(server_.path("from/d"));
  look_at(from);
  look_at(to);
  ASSERT_TRUE(run(rename(files().silly_names(), files().writes().behind(), caller(),
                         Place{from, "d"}, Place{to, "d"})));
  EXPECT_FALSE(from->attributes().stands());
  EXPECT_FALSE(to->attributes().stands());
}

TEST_F(RenamedFiles, ADirectoryWithALinkMoreIsAskedForAgain) {
  FileRef file = open("f");
  look_at(root_);
  ASSERT_TRUE(run(cache::link(files().attributes(), caller(), file->inode, root_, "g")));
  EXPECT_FALSE(root_->attributes().stands());
}

TEST_F(RenamedFiles, AFileWithAnotherNameIsJustRemoved) {
  FileRef file = open("one");
  std::filesystem::create_hard_link(server_.path("one"), server_.path("two"));
  ASSERT_TRUE(run(begin_unlink("one")));
  EXPECT_FALSE(server_.exists("one"));
  EXPECT_EQ(silly_names(), 0);
}

TEST_F(RenamedFiles, AFileIsAskedForAgainWhenOneOfItsNamesHasGone) {
  FileRef file = open("one");
  std::filesystem::create_hard_link(server_.path("one"), server_.path("two"));
  look_at(file->inode);
  ASSERT_TRUE(run(begin_unlink("two")));
  EXPECT_FALSE(fresh(file->inode)) << "its link count is another one";
}

TEST_F(RenamedFiles, AFileThatTheServerKeepsIsJustRemoved) {
  FileRef file = open("f");
  file->shared->preserve_unlinked = true;
  ASSERT_TRUE(run(begin_unlink("f")));
  EXPECT_EQ(silly_names(), 0);
}

TEST_F(RenamedFiles, AFileThatIsClosedWhileItGetsASillyNameLeavesNone) {
  FileRef other = open("other");
  FileRef file = open("f");
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_RENAME) ? Fate::hold : Fate::answer;
  };
  Pending<Result<void>> unlinking(begin_unlink("f"));
  reactor_.settle();
  close(file);
  server_.fate = nullptr;
  server_.disconnect();
  EXPECT_TRUE(finish(unlinking));
  EXPECT_EQ(silly_names(), 0);
}

TEST_F(RenamedFiles, ADirectoryIsRemovedWhenTheLastSillyNameHasGone) {
  FileRef other = open("other");
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "text"));
  const InodeRef empty = directory("d");
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_WRITE) ? Fate::hold : Fate::answer;
  };
  files().silly_names().announce_removal(*file->shared);
  Pending<bool> closing(ended(begin_close(std::move(file))));
  ASSERT_TRUE(run(begin_unlink("f")));
  server_.fail(nfs4::OP_REMOVE, nfs4::NFS4ERR_NOTEMPTY);
  Pending<Result<void>> removing(
      remove_directory(files().silly_names(), caller(), Place{root_, "d"}));
  reactor_.settle();
  EXPECT_FALSE(removing.done());
  server_.fate = nullptr;
  server_.disconnect();
  EXPECT_TRUE(finish(removing));
  EXPECT_FALSE(server_.exists("d"));
  EXPECT_TRUE(finish(closing));
}

TEST_F(RenamedFiles, NothingIsWaitedForWhenTheServerSaysSomethingElse) {
  FileRef other = open("other");
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "text"));
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_WRITE) ? Fate::hold : Fate::answer;
  };
  files().silly_names().announce_removal(*file->shared);
  Pending<bool> closing(ended(begin_close(std::move(file))));
  ASSERT_TRUE(run(begin_unlink("f")));
  server_.fail(nfs4::OP_REMOVE, nfs4::NFS4ERR_ACCESS);
  Pending<Result<void>> removing(
      remove_directory(files().silly_names(), caller(), Place{root_, "d"}));
  reactor_.settle();
  EXPECT_TRUE(removing.done());
  server_.fate = nullptr;
  server_.disconnect();
  EXPECT_TRUE(finish(closing));
}

}  // namespace
}  // namespace nfsrdma::cache::test
