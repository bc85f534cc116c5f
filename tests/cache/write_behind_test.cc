// Gathered writes: what reaches the server, when, and what happens when something goes wrong.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "cache/write/full_file_systems.h"
#include "cache/write/send_write.h"
#include "tests/cache/served_files.h"

namespace nfsrdma::cache::test {
namespace {

using namespace std::chrono_literals;
using client::test::Arrival;
using client::test::Fate;

class WriteBehindTest : public ServedFiles {
 protected:
  /// Breaks the connection once, when a WRITE arrives.
  void break_at_first_write(Fate how) {
    server_.fate = [this, how](const Arrival& arrival) {
      if (struck_ || !arrival.has(nfs4::OP_WRITE)) return Fate::answer;
      struck_ = true;
      return how;
    };
  }

  /// A write that its caller waits for.
  bool send(const FileRef& file, std::uint64_t offset, const std::string& text) {
    Buffer slot = slots_->acquire();
    std::ranges::copy(std::as_bytes(std::span(text)), slot.bytes().begin());
    const Outgoing outgoing{&slot, slot.first(text.size()), offset};
    return run(send_write(files().writes(), file, outgoing)) == text.size();
  }

  bool struck_ = false;
};

TEST_F(WriteBehindTest, ManySmallWritesGoAsOneThatIsDurable) {
  FileRef file = open("f");
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    ASSERT_TRUE(gather(file, expected.size(), line));
    expected += line;
  }
  reactor_.settle();
  EXPECT_EQ(writes(), 0);
  EXPECT_EQ(server_.read_file("f"), "");
  commit(file);
  EXPECT_EQ(server_.read_file("f"), expected);
  EXPECT_EQ(writes(), 1);
  EXPECT_EQ(commits(), 0);
  EXPECT_EQ(files_counter("cache_writes_gathered"), 1000u);
  EXPECT_EQ(files_counter("cache_bytes_gathered"), expected.size());
  EXPECT_EQ(files_counter("cache_gathered_sent_durably"), 1u);
  EXPECT_EQ(files_counter("cache_gather_slots"), 0u);
}

TEST_F(WriteBehindTest, NothingWaitsLongerThanTheLongest) {
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "one"));
  reactor_.advance(WriteBehind::kLongest / 2);
  ASSERT_TRUE(gather(file, 3, " two"));
  EXPECT_EQ(writes(), 0);
  reactor_.advance(WriteBehind::kLongest / 2);
  reactor_.settle();
  EXPECT_EQ(server_.read_file("f"), "one two");
  EXPECT_EQ(writes(), 1);
  commit(file);
  EXPECT_EQ(commits(), 1);
}

TEST_F(WriteBehindTest, MoreThanOneBlockIsCommitted) {
  FileRef file = open("f");
  const std::string half(GatheredWrite::kGatherBelow - 1, 'h');
  std::string expected;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(gather(file, expected.size(), half));
    expected += half;
    reactor_.settle();
  }
  EXPECT_EQ(writes(), 2);
  commit(file);
  EXPECT_EQ(server_.read_file("f"), expected);
  EXPECT_EQ(writes(), 3);
  EXPECT_EQ(commits(), 1);
}

TEST_F(WriteBehindTest, AWriteElsewhereInTheFileSendsWhatWasGathered) {
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "begin"));
  ASSERT_TRUE(gather(file, 1000, "far"));
  reactor_.settle();
  EXPECT_EQ(writes(), 1);
  EXPECT_EQ(server_.read_file("f"), "begin");
  flush(file);
  EXPECT_EQ(server_.read_file("f").substr(1000), "far");
}

TEST_F(WriteBehindTest, WhatJoinsIsTakenForCertain) {
  FileRef file = open("f");
  const std::string large(GatheredWrite::kGatherBelow, 'l');
  const auto joins = [&](const FileRef& by, std::uint64_t offset, const std::string& text) {
    return files().writes().behind().joins(
        by, {.offset = offset, .data = std::as_bytes(std::span(text))});
  };
  EXPECT_FALSE(joins(file, 0, "a")) << "nothing is gathered";
  ASSERT_TRUE(gather(file, 0, "text"));
  EXPECT_TRUE(joins(file, 4, "a"));
  EXPECT_TRUE(joins(file, 2, "a"));
  EXPECT_FALSE(joins(file, 5, "a")) << "a gap";
  EXPECT_FALSE(joins(file, 4, large));
  client::Credential other = caller();
  other.uid += 1;
  FileRef another = open_as(other, "f");
  EXPECT_FALSE(joins(another, 4, "a")) << "of another user";
  file->shared->write_through = true;
  EXPECT_FALSE(joins(file, 4, "a"));
  file->shared->write_through = false;
  flush(file);
  EXPECT_FALSE(joins(file, 4, "a"));
}

TEST_F(WriteBehindTest, ALargeWriteIsNotGathered) {
  FileRef file = open("f");
  EXPECT_FALSE(gather(file, 0, std::string(GatheredWrite::kGatherBelow, 'l')));
}

TEST_F(WriteBehindTest, TheSamePlaceIsWrittenInOrder) {
  FileRef file = open("f");
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_WRITE) ? Fate::hold : Fate::answer;
  };
  ASSERT_TRUE(gather(file, 0, "old old"));
  files().writes().behind().send(*file->shared);
  ASSERT_TRUE(gather(file, 4, "new"));
  files().writes().behind().send(*file->shared);
  reactor_.settle();
  EXPECT_EQ(writes(), 1) << "the second one waits for the answer to the first";
  server_.fate = nullptr;
  server_.disconnect();
  flush(file);
  EXPECT_EQ(server_.read_file("f"), "old new");
  EXPECT_EQ(writes(), 2);
}

TEST_F(WriteBehindTest, MemoryIsBoundedAndTheLongestMakesRoom) {
  std::vector<FileRef> opened;
  for (int i = 0; i < 10; ++i) opened.push_back(open("f" + std::to_string(i)));
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(gather(opened[i], 0, "text"));
  EXPECT_EQ(files_counter("cache_gather_slots"), 8u);
  EXPECT_FALSE(gather(opened[8], 0, "text"));
  EXPECT_EQ(files_counter("cache_gather_slots_refused"), 1u);
  reactor_.settle();
  EXPECT_EQ(server_.read_file("f0"), "text");
  EXPECT_TRUE(gather(opened[8], 0, "text"));
  EXPECT_TRUE(gather(opened[1], 4, " and more")) << "where there is room, none is asked for";
  finish(files().writes().behind().flush_all());
  for (int i = 1; i < 9; ++i)
    EXPECT_EQ(server_.read_file("f" + std::to_string(i)).substr(0, 4), "text");
  EXPECT_EQ(files_counter("cache_gather_slots"), 0u);
}

TEST_F(WriteBehindTest, AFailureIsToldOnceToEachDescriptorAndEndsGathering) {
  FileRef one = open("f");
  FileRef two = open("f");
  ASSERT_TRUE(gather(one, 0, "text"));
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_IO);
  commit(one);
  EXPECT_EQ(take_error(one), EIO);
  EXPECT_EQ(take_error(one), 0);
  EXPECT_EQ(take_error(two), EIO);
  EXPECT_EQ(take_error(two), 0);
  FileRef three = open("f");
  EXPECT_EQ(take_error(three), 0);
  EXPECT_FALSE(gather(two, 0, "text")) << "until a write has succeeded that its caller waited for";
  one->shared->write_through = false;
  EXPECT_TRUE(gather(two, 0, "text"));
  commit(one);
  EXPECT_EQ(take_error(one), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
}

TEST_F(WriteBehindTest, AFullServerEndsGatheringForAllFilesUntilOneHasGrown) {
  FileRef lost = open("lost");
  FileRef file = open("f");
  server_.write_file("old", "old text");
  FileRef old = open("old");
  ASSERT_TRUE(gather(lost, 0, "text"));
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  commit(lost);
  EXPECT_EQ(take_error(lost), ENOSPC);
  EXPECT_FALSE(gather(file, 0, "text"));
  EXPECT_FALSE(take_over(file, 0, std::string(kLarge, 'l')));
  ASSERT_TRUE(send(old, 0, "new"));
  EXPECT_FALSE(gather(file, 0, "text")) << "what replaces other bytes needs no space";
  ASSERT_TRUE(send(old, 4, "texts"));
  EXPECT_TRUE(gather(file, 0, "text"));
  commit(file);
  EXPECT_EQ(take_error(file), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
}

TEST_F(WriteBehindTest, AFullServerIsAskedAgainAfterAWhile) {
  FileRef lost = open("lost");
  FileRef file = open("f");
  ASSERT_TRUE(gather(lost, 0, "text"));
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  commit(lost);
  ASSERT_FALSE(gather(file, 0, "text"));
  reactor_.advance(FullFileSystems::kLongest);
  EXPECT_TRUE(gather(file, 0, "text"));
}

TEST_F(WriteBehindTest, ACommitTellsThatTheServerIsFull) {
  FileRef lost = open("lost");
  FileRef file = open("f");
  ASSERT_TRUE(gather(lost, 0, "text"));
  flush(lost);
  server_.fail(nfs4::OP_COMMIT, nfs4::NFS4ERR_NOSPC);
  commit(lost);
  EXPECT_EQ(take_error(lost), ENOSPC);
  EXPECT_FALSE(gather(file, 0, "text"));
}

TEST_F(WriteBehindTest, AQuotaIsThatOfOneUser) {
  FileRef lost = open("lost");
  FileRef file = open("f");
  client::Credential user = caller();
  user.uid += 1;
  FileRef of_another = open_as(user, "f");
  ASSERT_TRUE(gather(lost, 0, "text"));
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_DQUOT);
  commit(lost);
  EXPECT_EQ(take_error(lost), EDQUOT);
  EXPECT_FALSE(gather(file, 0, "text"));
  EXPECT_TRUE(gather(of_another, 0, "text"));
}

TEST_F(WriteBehindTest, AnErrorOfTheTimersWriteIsToldAtTheNextFlush) {
  FileRef file = open("f");
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_DQUOT);
  ASSERT_TRUE(gather(file, 0, "text"));
  reactor_.advance(WriteBehind::kLongest);
  reactor_.settle();
  commit(file);
  EXPECT_EQ(take_error(file), EDQUOT);
  EXPECT_EQ(take_error(file), 0);
}

TEST_F(WriteBehindTest, AnotherDescriptorMayGo) {
  FileRef one = open("f");
  FileRef two = open("f");
  ASSERT_TRUE(gather(one, 0, "one"));
  ASSERT_TRUE(gather(two, 3, " two"));
  close(one);
  EXPECT_EQ(server_.read_file("f"), "one two");
  ASSERT_TRUE(gather(two, 7, " three"));
  close(two);
  EXPECT_EQ(server_.read_file("f"), "one two three");
}

TEST_F(WriteBehindTest, ALostConnectionIsNotNoticed) {
  for (const Fate how : {Fate::disconnect_before, Fate::disconnect_after}) {
    FileRef file = open("f");
    ASSERT_TRUE(gather(file, 0, "text"));
    struck_ = false;
    break_at_first_write(how);
    const int before = writes();
    commit(file);
    EXPECT_TRUE(struck_);
    EXPECT_EQ(server_.read_file("f"), "text");
    EXPECT_EQ(writes() - before, 1);
    EXPECT_EQ(take_error(file), 0);
    close(file);
  }
}

TEST_F(WriteBehindTest, AServerRebootIsNotNoticed) {
  for (const std::uint32_t grace : {0u, 10u}) {
    FileRef file = open("f" + std::to_string(grace));
    ASSERT_TRUE(gather(file, 0, "text"));
    server_.reboot(grace);
    commit(file);
    EXPECT_EQ(server_.read_file("f" + std::to_string(grace)), "text");
    EXPECT_EQ(take_error(file), 0);
    close(file);
  }
}

TEST_F(WriteBehindTest, WhatAServerForgotIsSentAgain) {
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "kept until it is committed"));
  flush(file);
  EXPECT_EQ(writes(), 1);
  server_.write_file("f", "");
  server_.reboot(0);
  commit(file);
  EXPECT_EQ(server_.read_file("f"), "kept until it is committed");
  EXPECT_EQ(take_error(file), 0);
}

TEST_F(WriteBehindTest, LostStateIsAnError) {
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "text"));
  server_.fail(nfs4::OP_OPEN, nfs4::NFS4ERR_RECLAIM_BAD, 100);
  server_.reboot(10);
  commit(file);
  EXPECT_EQ(take_error(file), EIO);
  EXPECT_EQ(take_error(file), 0);
  EXPECT_EQ(files_counter("cache_gather_slots"), 0u);
}

// A WRITE takes away set-id bits, and does not tell; what was asked before it may have them.
TEST_F(WriteBehindTest, AttributesAskedForBeforeAWriteDoNotEndItsDoubt) {
  server_.write_file("f", "text");
  ASSERT_EQ(::chmod(server_.path("f").c_str(), 04755), 0);
  FileRef file = open("f");
  server_.fate = [](const Arrival& arrival) {
    const bool alone = arrival.has(nfs4::OP_GETATTR) && !arrival.has(nfs4::OP_WRITE);
    return alone ? Fate::hold : Fate::answer;
  };
  client::test::Pending<Result<AttributeCache::Outcome>> asking(
      files().attributes().revalidate(file->inode, caller()));
  reactor_.settle();
  ASSERT_TRUE(gather(file, 0, "TEXT"));
  flush(file);
  EXPECT_FALSE(file->inode->attributes().stands());
  let_go();
  EXPECT_TRUE(finish(asking));
  EXPECT_FALSE(file->inode->attributes().stands());
}

TEST_F(WriteBehindTest, EachFileIsSentInItsTime) {
  FileRef one = open("one");
  FileRef two = open("two");
  ASSERT_TRUE(gather(one, 0, "one"));
  reactor_.advance(WriteBehind::kLongest / 2);
  ASSERT_TRUE(gather(two, 0, "two"));
  reactor_.advance(WriteBehind::kLongest / 2);
  EXPECT_EQ(server_.read_file("one"), "one");
  EXPECT_EQ(server_.read_file("two"), "");
  reactor_.advance(WriteBehind::kLongest / 2);
  EXPECT_EQ(server_.read_file("two"), "two");
}

/// Writes of kGatherBelow bytes and more.
class LargeWritesBehind : public WriteBehindTest {
 protected:
  static constexpr std::size_t kLarge = GatheredWrite::kGatherBelow;

  /// Text whose parts differ.
  static std::string text_of(std::size_t size) {
    std::string text;
    while (text.size() < size) text += "byte " + std::to_string(text.size()) + ' ';
    text.resize(size);
    return text;
  }
  /// Writes the text from `first` on, in large writes; returns how many were taken.
  int take_over_all(const FileRef& file, const std::string& text, std::size_t first = 0) {
    int taken = 0;
    for (std::size_t at = first; at < text.size(); at += kLarge) {
      if (!take_over(file, at, text.substr(at, kLarge))) break;
      ++taken;
    }
    return taken;
  }
};

TEST_F(LargeWritesBehind, AreTakenBeforeTheServerHasThem) {
  FileRef file = open("f");
  hold_writes();
  const std::string text = text_of(3 * kLarge);
  EXPECT_EQ(take_over_all(file, text), 3);
  reactor_.settle();
  EXPECT_EQ(arrived_writes(), 3) << "side by side";
  EXPECT_TRUE(file->shared->dirty());
  EXPECT_EQ(file->shared->dirty_end(), text.size());
  let_go();
  commit(file);
  EXPECT_TRUE(server_.read_file("f") == text);
  EXPECT_EQ(take_error(file), 0);
  EXPECT_EQ(files_counter("cache_writes_taken_over"), 3u);
  EXPECT_EQ(slots_->available(), kSlots - 1);
}

TEST_F(LargeWritesBehind, AFileLeavesAsMuchMemoryToOthersAsItHas) {
  std::vector<int> taken;
  std::vector<FileRef> opened;
  for (int i = 0; i < 5; ++i) opened.push_back(open("f" + std::to_string(i)));
  hold_writes();
  for (const FileRef& file : opened) taken.push_back(take_over_all(file, text_of(8 * kLarge)));
  EXPECT_EQ(taken, (std::vector<int>{4, 2, 1, 1, 0}));
  EXPECT_EQ(files_counter("cache_gather_slots"), 8u);
  let_go();
  for (const FileRef& file : opened) commit(file);
  EXPECT_EQ(files_counter("cache_gather_slots"), 0u);
}

class FewDirtySlots : public LargeWritesBehind {
 protected:
  DataLimits limits() const override { return {.dirty_ratio = 25}; }
};

TEST_F(FewDirtySlots, HoldLessUnderWay) {
  FileRef one = open("one");
  FileRef two = open("two");
  FileRef three = open("three");
  FileRef four = open("four");
  hold_writes();
  const std::string text = text_of(8 * kLarge);
  EXPECT_EQ(take_over_all(one, text), 2);
  EXPECT_EQ(take_over_all(two, text), 1);
  EXPECT_EQ(take_over_all(three, text), 1);
  EXPECT_EQ(take_over_all(four, text), 0);
  EXPECT_EQ(files_counter("cache_gather_slots"), 4u);
  let_go();
  for (const FileRef& file : {one, two, three, four}) commit(file);
}

TEST_F(LargeWritesBehind, WhatIsNotCommittedCountsToo) {
  server_.service().set_never_stable(true);
  FileRef one = open("one");
  FileRef two = open("two");
  ASSERT_TRUE(take_over(one, 0, text_of(kLarge)));
  flush(one);
  ASSERT_TRUE(take_over(one, kLarge, text_of(kLarge)));
  flush(one);
  EXPECT_EQ(files_counter("cache_slots_uncommitted"), 2u);
  hold_writes();
  EXPECT_EQ(take_over_all(two, text_of(8 * kLarge)), 3) << "half of what is left";
  let_go();
  commit(one);
  commit(two);
}

TEST_F(LargeWritesBehind, ThereIsRoomWhenOneHasBeenAnswered) {
  FileRef file = open("f");
  hold_writes();
  const std::string text = text_of(5 * kLarge);
  ASSERT_EQ(take_over_all(file, text), 4);
  client::test::Pending<bool> room(files().writes().behind().room(file->shared));
  reactor_.settle();
  EXPECT_FALSE(room.done());
  let_go();
  EXPECT_TRUE(finish(room));
  EXPECT_EQ(take_over_all(file, text, 4 * kLarge), 1);
  commit(file);
  EXPECT_TRUE(server_.read_file("f") == text);
}

TEST_F(LargeWritesBehind, WithNothingUnderWayTheCallerSends) {
  FileRef file = open("f");
  EXPECT_FALSE(run(files().writes().behind().room(file->shared)));
}

TEST_F(LargeWritesBehind, ComeBehindWhatIsGathered) {
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "small"));
  const std::string text = text_of(kLarge);
  ASSERT_TRUE(take_over(file, 3, text));
  ASSERT_TRUE(gather(file, 4, "again"));
  commit(file);
  std::string expected = "sma" + text;
  expected.replace(4, 5, "again");
  EXPECT_TRUE(server_.read_file("f") == expected);
}

TEST_F(LargeWritesBehind, AFailureAmongSeveralIsToldOnce) {
  FileRef one = open("f");
  FileRef two = open("f");
  const std::string text = text_of(4 * kLarge);
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_IO, 2);
  ASSERT_EQ(take_over_all(one, text), 4);
  commit(one);
  for (const FileRef& file : {one, two}) {
    EXPECT_EQ(take_error(file), EIO);
    EXPECT_EQ(take_error(file), 0);
  }
  EXPECT_FALSE(take_over(one, 0, text.substr(0, kLarge)));
  one->shared->write_through = false;
  ASSERT_EQ(take_over_all(one, text), 4);
  commit(one);
  EXPECT_EQ(take_error(one), 0);
  EXPECT_TRUE(server_.read_file("f") == text);
}

TEST_F(LargeWritesBehind, ALostConnectionIsNotNoticed) {
  for (const Fate how : {Fate::disconnect_before, Fate::disconnect_after}) {
    FileRef file = open("f");
    struck_ = false;
    break_at_first_write(how);
    const std::string text = text_of(4 * kLarge);
    ASSERT_EQ(take_over_all(file, text), 4);
    commit(file);
    EXPECT_TRUE(struck_);
    EXPECT_TRUE(server_.read_file("f") == text);
    EXPECT_EQ(take_error(file), 0);
    close(file);
  }
}

TEST_F(LargeWritesBehind, WhatAServerForgotIsSentAgain) {
  FileRef file = open("f");
  const std::string text = text_of(4 * kLarge);
  ASSERT_EQ(take_over_all(file, text), 4);
  flush(file);
  server_.write_file("f", "");
  server_.reboot(0);
  commit(file);
  EXPECT_TRUE(server_.read_file("f") == text);
  EXPECT_EQ(take_error(file), 0);
}

// A COMMIT for the sake of memory does not wait for what is in flight.
TEST_F(LargeWritesBehind, GoOnWhileMemoryIsMade) {
  server_.service().set_never_stable(true);
  FileRef file = open("f");
  const std::string text = text_of(5 * kLarge);
  for (std::size_t at = 0; at < 4 * kLarge; at += kLarge) {
    ASSERT_TRUE(take_over(file, at, text.substr(at, kLarge)));
    if (at < 3 * kLarge) flush(file);
  }
  flush(file);
  ASSERT_TRUE(files().writes().memory().filling());
  hold_writes();
  ASSERT_TRUE(take_over(file, 4 * kLarge, text.substr(4 * kLarge)));
  relieve(files().writes());
  reactor_.settle();
  EXPECT_EQ(files_counter("cache_slots_uncommitted"), 0u);
  EXPECT_TRUE(file->shared->dirty());
  let_go();
  commit(file);
  EXPECT_TRUE(server_.read_file("f") == text);
}

class DelegatedWriteBehind : public ServedFiles {
 protected:
  DelegatedWriteBehind() : ServedFiles(responder::DelegationKind::write) {}
  void give_back(const FileRef& file) {
    finish(mount().delegations().give_back(file->inode->handle()));
  }
};

// RFC 8881 section 10.4.4
TEST_F(DelegatedWriteBehind, OneDurableWriteSendsWhatIsGatheredBeforeTheReturn) {
  FileRef file = open("f");
  ASSERT_TRUE(mount().delegations().held(file->inode->handle()));
  ASSERT_TRUE(gather(file, 0, "gathered"));
  give_back(file);
  EXPECT_EQ(server_.read_file("f"), "gathered");
  EXPECT_EQ(writes(), 1);
  EXPECT_EQ(commits(), 0);
  EXPECT_EQ(server_.successes_of(nfs4::OP_DELEGRETURN), 1);
  close(file);
}

}  // namespace
}  // namespace nfsrdma::cache::test
