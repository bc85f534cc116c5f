// What comes after all that was written has the kernel write mapped pages before. Here the program
// has no path to its own mount: the kernel is told to drop the pages, which writes those that
// programs have stored to.
#include <fcntl.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

using client::test::Arrival;
using client::test::Fate;

class StoresToAMapping : public KernelRequests {
 protected:
  explicit StoresToAMapping(responder::DelegationKind delegations = {})
      : KernelRequests(delegations) {}
  static constexpr std::uint64_t kOwner = 11;

  void SetUp() override {
    KernelRequests::SetUp();
    attach();
    file_ = mapped("f");
  }
  void TearDown() override {
    server_.fate = nullptr;
    flush(file_, kOwner);
    release(file_);
    KernelRequests::TearDown();
  }
  Opened mapped(const std::string& name, int flags = O_RDWR) {
    server_.write_file(name, text_of(5000));
    const Opened file = kernel_open(name, flags);
    EXPECT_EQ(read(file, 0, 4096).error, 0);
    return file;
  }
  std::size_t drops() const { return drops_of(file_.node).size(); }
  fuse_lk_in lock_in(int type) const {
    return {file_.fh, kOwner, {0, kLast, static_cast<std::uint32_t>(type), 1234}, 0, 0};
  }
  int lock(int type) { return ask(FUSE_SETLK, file_.node, lock_in(type)).error; }
  /// Orders to drop pages by when the operation reaches the server; -1: it has not.
  template <class Call>
  int drops_at(nfs4::nfs_opnum4 operation, Call call) {
    int found = -1;
    const std::size_t before = drops();
    server_.fate = [&, operation](const Arrival& arrival) {
      if (arrival.has(operation)) found = static_cast<int>(drops() - before);
      return Fate::answer;
    };
    call();
    server_.fate = nullptr;
    return found;
  }

  Opened file_;
};

TEST_F(StoresToAMapping, AreWrittenBeforeALockIsGranted) {
  EXPECT_EQ(drops_at(nfs4::OP_LOCK, [&] { EXPECT_EQ(lock(F_WRLCK), 0); }), 1);
}

TEST_F(StoresToAMapping, AreWrittenBeforeALockIsGivenBack) {
  ASSERT_EQ(lock(F_WRLCK), 0);
  EXPECT_EQ(read(file_, 0, 4096).error, 0);
  EXPECT_EQ(drops_at(nfs4::OP_LOCKU, [&] { EXPECT_EQ(lock(F_UNLCK), 0); }), 1);
}

TEST_F(StoresToAMapping, AreWrittenBeforeALockBecomesWeaker) {
  ASSERT_EQ(lock(F_WRLCK), 0);
  EXPECT_EQ(read(file_, 0, 4096).error, 0);
  EXPECT_EQ(drops_at(nfs4::OP_LOCK, [&] { EXPECT_EQ(lock(F_RDLCK), 0); }), 1);
}

// The kernel sends no page until the truncation is answered.
TEST_F(StoresToAMapping, WaitForATruncationBeforeALockIsGivenBack) {
  ASSERT_EQ(lock(F_WRLCK), 0);
  EXPECT_EQ(read(file_, 0, 4096).error, 0);
  const std::size_t before = drops();
  hold(nfs4::OP_SETATTR);
  const auto truncating =
      begin(FUSE_SETATTR, file_.node, fuse_setattr_in{.valid = FATTR_SIZE, .size = 4000});
  reactor_.settle();
  const auto unlocking = begin(FUSE_SETLK, file_.node, lock_in(F_UNLCK));
  reactor_.settle();
  EXPECT_EQ(drops(), before);
  EXPECT_EQ(server_.successes_of(nfs4::OP_LOCKU), 0);
  let_go();
  EXPECT_EQ(end(truncating).error, 0);
  EXPECT_EQ(end(unlocking).error, 0);
  EXPECT_EQ(drops(), before + 1);
  EXPECT_EQ(server_.successes_of(nfs4::OP_LOCKU), 1);
}

TEST_F(StoresToAMapping, AreWrittenBeforeTimesAreSet) {
  const fuse_setattr_in times{.valid = FATTR_MTIME, .mtime = 22};
  EXPECT_EQ(
      drops_at(nfs4::OP_SETATTR, [&] { EXPECT_EQ(ask(FUSE_SETATTR, file_.node, times).error, 0); }),
      1);
}

TEST_F(StoresToAMapping, AreWrittenBeforeARename) {
  const auto rename = [&] {
    EXPECT_EQ(
        ask(FUSE_RENAME, kRoot, fuse_rename_in{kRoot}, std::string("f"), std::string("g")).error,
        0);
  };
  EXPECT_EQ(drops_at(nfs4::OP_RENAME, rename), 1);
}

TEST_F(StoresToAMapping, AreWrittenBeforeALink) {
  const auto link = [&] {
    EXPECT_EQ(ask(FUSE_LINK, kRoot, fuse_link_in{file_.node}, std::string("g")).error, 0);
  };
  EXPECT_EQ(drops_at(nfs4::OP_LINK, link), 1);
}

TEST_F(StoresToAMapping, WhatWasWrittenIsSentBeforeALink) {
  ASSERT_EQ(write(file_, 0, "text"), 0);
  EXPECT_EQ(ask(FUSE_LINK, kRoot, fuse_link_in{file_.node}, std::string("g")).error, 0);
  EXPECT_EQ(server_.read_file("g").substr(0, 4), "text");
}

// A shared mapping that can be written needs O_RDWR, and a page.
TEST_F(StoresToAMapping, AreLookedForWhereTheyCanBeOnly) {
  ASSERT_EQ(lock(F_WRLCK), 0);
  EXPECT_EQ(drops_at(nfs4::OP_LOCKU, [&] { EXPECT_EQ(lock(F_UNLCK), 0); }), 0) << "no page is left";
  const Opened written = mapped("written", O_RDONLY);
  fuse_lk_in wanted = lock_in(F_RDLCK);
  wanted.fh = written.fh;
  EXPECT_EQ(ask(FUSE_SETLK, written.node, wanted).error, 0);
  EXPECT_TRUE(drops_of(written.node).empty());
  flush(written, kOwner);
  release(written);
}

// Locks are kept here then, and write nothing: nobody else can see the file.
class StoresUnderADelegation : public StoresToAMapping {
 protected:
  StoresUnderADelegation() : StoresToAMapping(responder::DelegationKind::write) {}
  const client::FileHandle& handle() { return fs_->find_file(file_.fh)->inode->handle(); }
};

TEST_F(StoresUnderADelegation, AreWrittenBeforeItIsReturned) {
  ASSERT_EQ(lock(F_WRLCK), 0);
  const std::size_t before = drops();
  EXPECT_EQ(lock(F_UNLCK), 0);
  EXPECT_EQ(drops(), before);
  ASSERT_TRUE(mount().delegations().held(handle()));
  const auto give_back = [&] { finish(mount().delegations().give_back(handle())); };
  EXPECT_EQ(drops_at(nfs4::OP_DELEGRETURN, give_back), 1);
}

// The SETATTR may wait for the return, and the kernel sends no page until that is answered.
TEST_F(StoresUnderADelegation, DoNotHoldUpItsReturnWhileTheFileIsTruncated) {
  hold(nfs4::OP_SETATTR);
  const auto truncating =
      begin(FUSE_SETATTR, file_.node, fuse_setattr_in{.valid = FATTR_SIZE, .size = 4000});
  reactor_.settle();
  finish(mount().delegations().give_back(handle()));
  EXPECT_EQ(server_.successes_of(nfs4::OP_DELEGRETURN), 1);
  let_go();
  EXPECT_EQ(end(truncating).error, 0);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
