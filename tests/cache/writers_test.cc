// Who writes a file: in whose name it is committed, cut off and flushed, and who waits for memory.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "cache/write/send_write.h"
#include "cache/write/set_attributes.h"
#include "client/requests/errno.h"
#include "client/requests/getattr.h"
#include "tests/cache/served_files.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::cache::test {
namespace {

using client::test::Arrival;
using client::test::Fate;
using client::test::Pending;

class Writers : public ServedFiles {
 protected:
  static constexpr std::size_t kLarge = GatheredWrite::kGatherBelow;

  explicit Writers(responder::DelegationKind delegations = {}) : ServedFiles(delegations) {}
  bool fresh(const FileRef& file) { return files().attributes().fresh(*file->inode); }
  /// A write that waits for no memory, as if it had begun together with others.
  void send(const FileRef& file, std::size_t at) {
    Buffer slot = slots_->acquire();
    const Outgoing outgoing{&slot, slot.first(kLarge), at};
    ASSERT_TRUE(run(send_write(files().writes(), file, outgoing)));
  }
  void hold_first_commit() {
    server_.fate = [arrived = 0](const Arrival& arrival) mutable {
      const bool first = arrival.has(nfs4::OP_COMMIT) && ++arrived == 1;
      return first ? Fate::hold : Fate::answer;
    };
  }
};

TEST_F(Writers, AReaderIsNone) {
  server_.write_file("f", "text");
  FileRef reader = open("f", nfs4::OPEN4_SHARE_ACCESS_READ);
  EXPECT_EQ(reader->shared->any_writer(), nullptr);
  FileRef writer = open("f");
  EXPECT_EQ(reader->shared->any_writer(), writer);
}

// A write whose caller was killed may end behind the COMMIT of the last close.
TEST_F(Writers, MemoryIsMadeWithoutTheLastOne) {
  server_.service().set_never_stable(true);
  FileRef file = open("f");
  const std::string text(kLarge, 't');
  for (std::size_t at = 0; !files().writes().memory().filling(); at += kLarge) {
    ASSERT_TRUE(take_over(file, at, text));
    flush(file);
  }
  file->unlink();
  relieve(files().writes());
  reactor_.settle();
  EXPECT_GT(files_counter("cache_slots_uncommitted"), 0U) << "its close commits it";
}

TEST_F(Writers, WhoWaitsForRoomHasItMade) {
  server_.service().set_never_stable(true);
  std::vector<FileRef> opened;
  for (int i = 0; i < 4; ++i) opened.push_back(open("f" + std::to_string(i)));
  hold_writes();
  const std::string text(kLarge, 't');
  for (const FileRef& file : opened) {
    std::size_t at = 0;
    while (take_over(file, at, text)) at += kLarge;
  }
  reactor_.settle();
  let_go();
  hold(nfs4::OP_COMMIT);
  for (const FileRef& file : opened) flush(file);
  ASSERT_TRUE(files().writes().memory().full());
  Pending<bool> room(files().writes().behind().room(opened.front()->shared));
  reactor_.settle();
  EXPECT_FALSE(room.done());
  let_go();
  reactor_.advance(std::chrono::seconds(5));
  EXPECT_TRUE(room.done());
  if (!room.done()) commit(opened.front());
}

// Its disk does not answer, while those of others do.
TEST_F(Writers, AFileWhoseCommitDoesNotEndLeavesOthersTheirMemory) {
  server_.service().set_never_stable(true);
  FileRef stuck = open("stuck");
  FileRef other = open("other");
  hold_first_commit();
  std::size_t at = 0;
  while (!files().writes().memory().full()) send(stuck, at += kLarge);
  for (int more = 0; more < 3; ++more) send(stuck, at += kLarge);
  send(other, 0);
  reactor_.settle();
  EXPECT_FALSE(stuck->shared->uncommitted.empty());
  EXPECT_TRUE(other->shared->uncommitted.empty());
  let_go();
  commit(stuck);
}

TEST_F(Writers, MemoryThatFillsUpDuringACommitIsMadeAfterIt) {
  server_.service().set_never_stable(true);
  FileRef file = open("f");
  send(file, 0);
  hold_first_commit();
  Pending<bool> committing(ended(commit_file(files().writes(), file)));
  reactor_.settle();
  std::size_t at = 0;
  while (!files().writes().memory().full()) send(file, at += kLarge);
  send(file, at += kLarge);
  let_go();
  EXPECT_TRUE(finish(committing));
  reactor_.settle();
  EXPECT_TRUE(file->shared->uncommitted.empty());
}

TEST_F(Writers, SmallWritesAreNotGatheredInFullMemory) {
  server_.service().set_never_stable(true);
  hold(nfs4::OP_COMMIT);
  FileRef file = open("f");
  const std::string text(UncommittedMemory::kCopyBelow, 't');
  const std::size_t most = UncommittedMemory::Limits{}.copied_bytes / text.size();
  std::size_t taken = 0;
  for (; taken < 2 * most && gather(file, taken * text.size(), text); ++taken) flush(file);
  EXPECT_EQ(taken, most);
  let_go();
  commit(file);
  EXPECT_EQ(take_error(file), 0);
}

// Appends have to know it. Some servers' change attributes do not tell two writes of one moment
// apart.
TEST_F(Writers, AnOvertakenAnswerLeavesTheEndToBeAskedFor) {
  FileRef file = open("f");
  hold_writes();
  ASSERT_TRUE(gather(file, 0, "text"));
  files().writes().behind().send(*file->shared);
  reactor_.settle();
  AttributeCache& known = files().attributes();
  const Issue issue = known.issue();
  auto later = run(client::getattr(mount(), caller(), file->inode->handle()));
  ASSERT_TRUE(later);
  later->change += 1000;
  later->size = 0;
  known.learn(*file->inode, *later, issue, ChangedBy::anyone);
  ASSERT_TRUE(fresh(file));
  server_.fate = nullptr;
  server_.release_held();
  flush(file);
  EXPECT_FALSE(fresh(file));
}

// A caller would read what it has cut off.
TEST_F(Writers, AnOvertakenAnswerToACutLeavesTheNewSize) {
  server_.write_file("f", "some text");
  FileRef file = open("f");
  AttributeCache& known = files().attributes();
  hold(nfs4::OP_SETATTR);
  AttributeChange change{caller(), 0, {}};
  change.set.size = 4;
  Pending<Result<void>> cut(set_attributes(files().writes(), file->inode, file, change));
  reactor_.settle();
  ASSERT_EQ(server_.read_file("f"), "some");
  // As another request was answered before the cut, by a server that gives two changes of one
  // moment the same change attribute.
  const Issue issue = known.issue();
  auto before = run(client::getattr(mount(), caller(), file->inode->handle()));
  ASSERT_TRUE(before);
  before->size = 9;
  known.learn(*file->inode, *before, issue, ChangedBy::anyone);
  server_.fate = nullptr;
  server_.release_held();
  reactor_.settle();
  ASSERT_TRUE(cut.done());
  EXPECT_TRUE(cut.value());
  EXPECT_EQ(file->inode->attributes().value().size, 4U);
}

TEST_F(Writers, WithoutAttributesInTheAnswerTheyAreAskedFor) {
  server_.write_file("f", "some text");
  FileRef file = open("f");
  ASSERT_TRUE(fresh(file));
  server_.service().inject(
      {.opnum = nfs4::OP_GETATTR, .skip = 1, .status = nfs4::NFS4ERR_SERVERFAULT});
  ASSERT_TRUE(gather(file, 0, "more"));
  flush(file);
  EXPECT_EQ(server_.service().faults_applied(), 1U);
  EXPECT_EQ(take_error(file), 0);
  EXPECT_FALSE(fresh(file));
}

TEST_F(Writers, WhoMayNotWriteCutsNothingThroughAnothersOpen) {
  server_.write_file("f", "text");
  std::filesystem::permissions(server_.path("f"), std::filesystem::perms(0600));
  FileRef file = open("f");
  client::Credential other = caller();
  other.uid += 4242;
  other.gid += 4242;
  AttributeChange change{other, 0, {}};
  change.set.size = 0;
  const auto changed = run(set_attributes(files().writes(), file->inode, nullptr, change));
  ASSERT_FALSE(changed);
  EXPECT_EQ(client::to_errno(changed.error()), EACCES);
  EXPECT_EQ(server_.read_file("f"), "text");
}

// They share an open at the server, and Linux checks each WRITE.
TEST_F(Writers, WhoDiffersInGroupsWritesWithItsOwn) {
  server_.write_file("f", "text");
  FileRef first = open_as(member_of(7), "f");
  FileRef second = open_as(member_of(8), "f");
  ASSERT_TRUE(gather(first, 0, "one"));
  ASSERT_TRUE(gather(second, 3, "two"));
  flush(second);
  EXPECT_EQ(server_.read_file("f"), "onetwo");
  EXPECT_EQ(groups_of(nfs4::OP_WRITE), (std::vector{7U, 8U}));
}

TEST_F(Writers, WhoDiffersInGroupsCutsWithItsOwn) {
  server_.write_file("f", "text");
  FileRef file = open_as(member_of(7), "f");
  AttributeChange change{member_of(8), 0, {}};
  change.set.size = 1;
  EXPECT_TRUE(run(set_attributes(files().writes(), file->inode, nullptr, change)));
  EXPECT_EQ(server_.read_file("f"), "t");
  EXPECT_EQ(groups_of(nfs4::OP_SETATTR), std::vector{8U});
}

class DelegatedWriters : public Writers {
 protected:
  DelegatedWriters() : Writers(responder::DelegationKind::write) {}
};

// RFC 8881 section 10.4.4
TEST_F(DelegatedWriters, ARecallSendsWhatTheLastOneHasLeft) {
  FileRef file = open("f");
  ASSERT_TRUE(mount().delegations().held(file->inode->handle()));
  ASSERT_TRUE(gather(file, 0, "gathered"));
  file->unlink();
  finish(mount().delegations().give_back(file->inode->handle()));
  EXPECT_EQ(server_.successes_of(nfs4::OP_DELEGRETURN), 1);
  EXPECT_EQ(server_.read_file("f"), "gathered");
}

// The return commits, finds data lost and sends them again, which no change of the size may pass;
// so nobody who may change it can wait for the return.
TEST_F(DelegatedWriters, ACutAndAReturnThatFindsDataLostDoNotWaitForEachOther) {
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "some text"));
  flush(file);
  server_.write_file("f", "");
  hold(nfs4::OP_OPEN);
  server_.reboot(10);
  Pending<Result<client::Attributes>> any(client::getattr(mount(), caller(), root()));
  for (int i = 0; i < 20 && server_.successes_of(nfs4::OP_OPEN) < 2; ++i) {
    reactor_.advance(std::chrono::seconds(1));
  }
  ASSERT_FALSE(mount().delegations().held(file->inode->handle())) << "it is being reclaimed";
  AttributeChange change{caller(), 0, {}};
  change.set.size = 4;
  Pending<Result<void>> cut(set_attributes(files().writes(), file->inode, file, change));
  reactor_.settle();
  server_.fate = nullptr;
  server_.release_held();
  reactor_.advance(std::chrono::seconds(60));
  ASSERT_TRUE(any.done());
  ASSERT_TRUE(cut.done());
  EXPECT_TRUE(cut.value());
  commit(file);
  EXPECT_EQ(server_.read_file("f"), "some");
}

}  // namespace
}  // namespace nfsrdma::cache::test
