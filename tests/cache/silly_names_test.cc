// Files that are removed while they are open, and the directory that goes after them.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>

#include "cache/file/open.h"
#include "cache/name/change_names.h"
#include "cache/name/silly_names.h"
#include "client/requests/errno.h"
#include "client/requests/remove.h"
#include "tests/cache/served_files.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::cache::test {
namespace {

using client::test::Arrival;
using client::test::Fate;
using client::test::Pending;

class SillyNames : public ServedFiles {
 protected:
  explicit SillyNames(responder::DelegationKind delegations = {}) : ServedFiles(delegations) {}
  /// What RELEASE does, up to where the server has to answer.
  Pending<bool> begin_release(FileRef file) {
    files().silly_names().announce_removal(*file->shared);
    return Pending<bool>(ended(begin_close(std::move(file))));
  }
  bool kept(const std::string& name) {
    auto found = run(files().silly_names().keep_if_open(caller(), root_, name, NameIs::removed));
    EXPECT_TRUE(found) << found.error().message();
    return found && *found;
  }
  /// Whether rmdir(2), told that the directory is not empty, is to be tried again.
  Pending<bool> ask_again() {
    const auto not_empty = Error{Layer::nfs, nfs4::NFS4ERR_NOTEMPTY, "REMOVE", {}};
    return Pending<bool>(
        files().silly_names().may_be_empty_now(not_empty, files().silly_names().removed()));
  }
  /// Empty: there is none.
  std::string silly_name() const {
    for (const auto& entry : std::filesystem::directory_iterator(server_.path(""))) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(".nfs")) return name;
    }
    return {};
  }
  bool any_silly_name() const { return !silly_name().empty(); }
};

// RELEASE has come and waits, for a recovery say, when the name is removed.
TEST_F(SillyNames, ADirectoryWaitsForAFileThatWasClosedBeforeItWasRemoved) {
  FileRef other = open("other");  // names are looked at only while some file is open
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "text"));
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_WRITE) ? Fate::hold : Fate::answer;
  };
  auto closing = begin_release(std::move(file));
  ASSERT_TRUE(kept("f"));
  auto again = ask_again();
  reactor_.settle();
  EXPECT_FALSE(again.done()) << "the file is about to go";
  EXPECT_TRUE(any_silly_name());
  server_.fate = nullptr;
  server_.disconnect();
  EXPECT_TRUE(finish(again));
  EXPECT_FALSE(any_silly_name());
  EXPECT_TRUE(finish(closing));
}

TEST_F(SillyNames, ADirectoryDoesNotWaitForAFileThatIsInUse) {
  FileRef closed = open("f");
  FileRef in_use = open("f");
  ASSERT_TRUE(gather(closed, 0, "text"));
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_WRITE) ? Fate::hold : Fate::answer;
  };
  auto closing = begin_release(std::move(closed));
  ASSERT_TRUE(kept("f"));
  auto again = ask_again();
  reactor_.settle();
  ASSERT_TRUE(again.done());
  EXPECT_FALSE(again.value());
  server_.fate = nullptr;
  server_.disconnect();
  EXPECT_TRUE(finish(closing));
  EXPECT_TRUE(any_silly_name());
  auto last = begin_release(std::move(in_use));
  EXPECT_TRUE(finish(last));
  EXPECT_FALSE(any_silly_name());
}

TEST_F(SillyNames, ADirectoryDoesNotWaitForAFileThatIsOpenedAgain) {
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "text"));
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_WRITE) ? Fate::hold : Fate::answer;
  };
  auto closing = begin_release(std::move(file));
  FileRef other = open("other");
  ASSERT_TRUE(kept("f"));
  auto waiting = ask_again();
  reactor_.settle();
  ASSERT_FALSE(waiting.done());
  FileRef again = open(silly_name());
  reactor_.settle();
  EXPECT_TRUE(waiting.done()) << "its silly name stays";
  server_.fate = nullptr;
  server_.disconnect();
  EXPECT_TRUE(finish(closing));
  EXPECT_TRUE(finish(waiting));
  EXPECT_TRUE(any_silly_name());
  auto last = begin_release(std::move(again));
  EXPECT_TRUE(finish(last));
  EXPECT_FALSE(any_silly_name());
}

TEST_F(SillyNames, IsBusyWhileTheFileIsInUse) {
  FileRef file = open("f");
  ASSERT_TRUE(kept("f"));
  const std::string name = silly_name();
  for (const auto& leads_to : {std::optional<InodeRef>(file->inode), std::optional<InodeRef>()}) {
    auto removed = run(unlink(files().silly_names(), caller(), Place{root_, name, leads_to}));
    ASSERT_FALSE(removed);
    EXPECT_TRUE(removed.error().is(Layer::local, EBUSY)) << removed.error().message();
    EXPECT_EQ(silly_name(), name);
  }
  close(file);
  EXPECT_FALSE(any_silly_name());
}

TEST_F(SillyNames, OneThatAProgramRenamesIsNoneAnyMore) {
  FileRef file = open("f");
  ASSERT_TRUE(kept("f"));
  WriteBehind& behind = files().writes().behind();
  auto renamed = run(rename(files().silly_names(), behind, caller(), Place{root_, silly_name()},
                            Place{root_, "rescued"}));
  ASSERT_TRUE(renamed) << renamed.error().message();
  EXPECT_FALSE(file->shared->silly);
  close(file);
  EXPECT_TRUE(server_.exists("rescued"));
}

// OPEN4_RESULT_PRESERVE_UNLINKED, RFC 8881 section 18.16.3
TEST_F(SillyNames, WhatTheServerKeepsGetsNone) {
  server_.service().set_keeps_unlinked(true);
  FileRef file = open("f");
  server_.service().set_keeps_unlinked(false);
  FileRef again = open("f");
  EXPECT_FALSE(kept("f"));
  EXPECT_FALSE(any_silly_name());
}

class SillyNamesOfDelegated : public SillyNames {
 protected:
  SillyNamesOfDelegated() : SillyNames(responder::DelegationKind::write) {}
};

// RFC 8881 section 10.4.4
TEST_F(SillyNamesOfDelegated, ADelegationIsReturnedBeforeTheFileGoes) {
  FileRef file = open("f");
  const client::FileHandle handle = file->inode->handle();
  close(file);
  ASSERT_TRUE(mount().delegations().held(handle));
  EXPECT_FALSE(kept("f"));
  EXPECT_EQ(server_.successes_of(nfs4::OP_DELEGRETURN), 1);
}

TEST_F(SillyNamesOfDelegated, WhatTheServerKeepsIsKnownToALocalOpen) {
  server_.service().set_keeps_unlinked(true);
  FileRef file = open("f");
  InodeRef inode = file->inode;
  close(file);
  const auto opened = open_locally(files().attributes(), caller(), inode, O_RDONLY);
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->preserve_unlinked);
}

}  // namespace
}  // namespace nfsrdma::cache::test
