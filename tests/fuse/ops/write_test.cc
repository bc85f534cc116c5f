// WRITE: where the bytes go, when, and who is told what became of them.
#include <fcntl.h>
#include <filesystem>
#include <thread>

#include "client/files/open_files.h"
#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

using client::test::Arrival;
using client::test::Fate;

class WriteRequest : public KernelRequests {
 protected:
  void append_elsewhere(std::uint64_t offset, const std::string& text) {
    client::Opened elsewhere = open_file("f", nfs4::OPEN4_SHARE_ACCESS_BOTH);
    ASSERT_TRUE(write_text(elsewhere, offset, text));
    ASSERT_TRUE(run(mount().opens().close(std::move(elsewhere.open))));
  }
};

TEST_F(WriteRequest, ASmallOneIsAnsweredAtOnceAndSentLater) {
  const Opened file = kernel_open("f");
  EXPECT_EQ(write(file, 0, "one "), 0);
  EXPECT_EQ(write(file, 4, "two"), 0);
  EXPECT_EQ(writes(), 0);
  EXPECT_EQ(kernel_->counters().slots_taken.value(), 0U);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(writes(), 1);
  EXPECT_EQ(server_.read_file("f"), "one two");
  release(file);
}

TEST_F(WriteRequest, WhereFilesGetOneWriteEachItIsSentBehindTheAnswer) {
  int at_answer = 0;
  for (unsigned i = 0; i < cache::OneWriteFiles::kSure; ++i) {
    const Opened file = kernel_open("f" + std::to_string(i));
    EXPECT_EQ(write(file, 0, "text"), 0);
    EXPECT_EQ(writes(), at_answer);
    EXPECT_EQ(flush(file), 0);
    EXPECT_EQ(writes(), ++at_answer);
    release(file);
  }
  const Opened file = kernel_open("f");
  std::uint64_t early = 1;
  kernel_->on_answer = [&] { early = fs_counter("cache_gathered_sent_early"); };
  EXPECT_EQ(write(file, 0, "text"), 0);
  EXPECT_EQ(early, 0U);
  reactor_.settle();
  EXPECT_EQ(fs_counter("cache_gathered_sent_early"), 1U);
  EXPECT_EQ(writes(), at_answer + 1);
  kernel_->on_answer = nullptr;
  EXPECT_EQ(flush(file), 0);
  EXPECT_EQ(writes(), at_answer + 1);
  EXPECT_EQ(server_.read_file("f"), "text");
  release(file);
}

// Their end is known from the replies to WRITE.
TEST_F(WriteRequest, AppendsAskForNothingWhileTheyGoOn) {
  const Opened file = kernel_open("f", O_WRONLY | O_APPEND);
  const auto asked = [&] {
    return std::ranges::count_if(server_.arrivals(), [](const client::test::Arrival& arrival) {
      return arrival.has(nfs4::OP_GETATTR) && !arrival.has(nfs4::OP_WRITE);
    });
  };
  const auto before = asked();
  for (int line = 0; line < 20; ++line) {
    EXPECT_EQ(write(file, 5 * line, "line\n"), 0);
    reactor_.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(asked(), before);
  EXPECT_EQ(server_.read_file("f").size(), 100U);
  release(file);
}

// The copy takes as long as the caller needs for its next call.
TEST_F(WriteRequest, OneThatJoinsOthersIsAnsweredBeforeItIsCopied) {
  const Opened file = kernel_open("f");
  const auto gathered = [&] { return fs_counter("cache_writes_gathered"); };
  std::uint64_t at_answer = 0;
  kernel_->on_answer = [&] { at_answer = gathered(); };
  EXPECT_EQ(write(file, 0, "one "), 0);
  EXPECT_EQ(at_answer, 1U) << "it may be that there is no room";
  EXPECT_EQ(write(file, 4, "two"), 0);
  EXPECT_EQ(at_answer, 1U);
  EXPECT_EQ(gathered(), 2U);
  kernel_->on_answer = nullptr;
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "one two");
  release(file);
}

TEST_F(WriteRequest, OneThatJoinsOthersDropsPagesReadSinceADropBeforeItsAnswer) {
  attach();
  const Opened opened = kernel_open("f");
  EXPECT_EQ(write(opened, 0, "one "), 0);
  const FileRef file = fs_->find_file(opened.fh);
  file->node().watch_writes();
  file->confirm_drop();
  file->seen->after_drop.add({0, 4096});
  const std::size_t before = kernel_->notifications().size();
  std::size_t at_answer = 0;
  kernel_->on_answer = [&] { at_answer = kernel_->notifications().size(); };
  const auto unique = begin_write(opened, 4, "two");
  wait_for_thread([&] { return kernel_->answered(unique); });
  EXPECT_EQ(end(unique).error, 0);
  EXPECT_GT(at_answer, before);
  kernel_->on_answer = nullptr;
  EXPECT_EQ(fs_counter("cache_writes_gathered"), 2U);
  EXPECT_EQ(fsync(opened), 0);
  EXPECT_EQ(server_.read_file("f"), "one two");
  release(opened);
}

TEST_F(WriteRequest, ALargeOneIsSentFromTheSlotItCameInAndAnsweredBefore) {
  const std::string text = text_of(kLarge);
  const Opened file = kernel_open("f");
  hold_writes();
  EXPECT_EQ(write(file, 5, text), 0);
  EXPECT_EQ(fs_counter("cache_writes_taken_over"), 1U);
  let_go();
  EXPECT_TRUE(read(file, 5, 1000).text() == text.substr(0, 1000)) << "a read waits for it";
  EXPECT_TRUE(server_.read_file("f") == std::string(5, '\0') + text);
  EXPECT_EQ(fsync(file), 0);
  release(file);
}

TEST_F(WriteRequest, LargeOnesWaitWhenMuchIsUnderWay) {
  const std::string text = text_of(6 * kLarge);
  const Opened file = kernel_open("f");
  hold_writes();
  std::vector<std::uint64_t> requests;
  for (std::size_t at = 0; at < text.size(); at += kLarge)
    requests.push_back(begin_write(file, at, std::string_view(text).substr(at, kLarge)));
  reactor_.settle();
  EXPECT_TRUE(kernel_->answered(requests[3]));
  EXPECT_FALSE(kernel_->answered(requests[4]));
  let_go();
  for (const std::uint64_t request : requests) EXPECT_EQ(end(request).error, 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_TRUE(server_.read_file("f") == text);
  release(file);
}

// A small one that is sent alone would leave the blocks behind it off their boundaries.
TEST_F(WriteRequest, SmallOnesThatHadToWaitAreGatheredAllTheSame) {
  constexpr std::size_t kPiecesOfBlock = 4;
  constexpr std::size_t kBlocks = 20;
  const std::size_t piece = kSlotBytes / kPiecesOfBlock;
  const std::string text = text_of(kBlocks * kPiecesOfBlock * piece);
  server_.service().set_never_stable(true);
  const Opened file = kernel_open("f");
  int waited = 0;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    hold_writes();
    const std::uint64_t request = begin_write(file, at, std::string_view(text).substr(at, piece));
    reactor_.settle();
    if (!kernel_->answered(request)) {
      ++waited;
      let_go();
    }
    EXPECT_EQ(end(request).error, 0);
  }
  let_go();
  EXPECT_GT(waited, 1);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(fs_counter("cache_writes_gathered"), kBlocks * kPiecesOfBlock);
  EXPECT_EQ(writes(), static_cast<int>(kBlocks));
  EXPECT_TRUE(server_.read_file("f") == text);
  release(file);
}

TEST_F(WriteRequest, ALargeOneThatFailsLaterIsToldByTheNextFsync) {
  const Opened file = kernel_open("f");
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  EXPECT_EQ(write(file, 0, text_of(kLarge)), 0);
  EXPECT_EQ(fsync(file), ENOSPC);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(write(file, 0, text_of(kLarge)), 0) << "sent before it is answered";
  EXPECT_TRUE(server_.read_file("f") == text_of(kLarge));
  release(file);
}

TEST_F(WriteRequest, LargeAppendsFollowEachOther) {
  server_.write_file("f", "begin");
  const Opened file = kernel_open("f", O_WRONLY | O_APPEND);
  EXPECT_EQ(write(file, 5, text_of(kLarge)), 0);
  EXPECT_EQ(write(file, 5 + kLarge, text_of(kLarge)), 0);
  EXPECT_EQ(write(file, 5 + 2 * kLarge, "end"), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_TRUE(server_.read_file("f") == "begin" + text_of(kLarge) + text_of(kLarge) + "end");
  release(file);
}

TEST_F(WriteRequest, ACutFileDoesNotGrowAgainByALargeOne) {
  const Opened file = kernel_open("f");
  hold_writes();
  EXPECT_EQ(write(file, 0, text_of(kLarge)), 0);
  fuse_setattr_in cut{};
  cut.valid = FATTR_SIZE | FATTR_FH;
  cut.fh = file.fh;
  cut.size = 10;
  const std::uint64_t cutting = begin(FUSE_SETATTR, file.node, cut);
  reactor_.settle();
  EXPECT_FALSE(kernel_->answered(cutting));
  let_go();
  EXPECT_EQ(end(cutting).error, 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), text_of(10));
  release(file);
}

TEST_F(WriteRequest, OneThatIsLargerThanTheServerTakesIsMadeOfSeveral) {
  const std::size_t wsize = mount().wsize();
  const std::string text = text_of(wsize + wsize / 2);
  const Opened file = kernel_open("f", O_WRONLY | O_DIRECT);
  EXPECT_EQ(write(file, 7, text), 0);
  EXPECT_EQ(writes(), 2);
  EXPECT_TRUE(server_.read_file("f") == std::string(7, '\0') + text);
  EXPECT_EQ(fsync(file), 0);
  release(file);
}

TEST_F(WriteRequest, WhoWantsItDurableOrUncachedWaitsForTheServer) {
  const Opened synchronous = kernel_open("f", O_WRONLY | O_SYNC);
  EXPECT_EQ(write(synchronous, 0, "text"), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  EXPECT_EQ(fsync(synchronous), 0);
  EXPECT_EQ(commits(), 0) << "it was written FILE_SYNC4";
  const Opened direct = open_node(synchronous.node, O_WRONLY | O_DIRECT);
  EXPECT_EQ(write(direct, 0, "TE"), 0);
  EXPECT_EQ(server_.read_file("f"), "TExt");
  release(synchronous);
  release(direct);
}

TEST_F(WriteRequest, AnAppendGoesToTheEndWhereverTheKernelTakesThatToBe) {
  server_.write_file("f", "be");
  const Opened file = kernel_open("f", O_WRONLY | O_APPEND);
  server_.write_file("f", "begin");
  reactor_.advance(std::chrono::minutes(1));
  EXPECT_EQ(getattr(file.node).size, 5U) << "the kernel may take it in, or not";
  EXPECT_EQ(write(file, 2, " end"), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "begin end");
  release(file);
}

// pwritev2(2) with RWF_NOAPPEND: the kernel tells nothing of the flag, but begins an append at the
// end.
TEST_F(WriteRequest, WhatDoesNotBeginAtTheKernelsEndIsNoAppend) {
  for (const int way : {0, O_DIRECT, O_SYNC}) {
    server_.write_file("f", "begin");
    const Opened file = kernel_open("f", O_WRONLY | O_APPEND | way);
    EXPECT_EQ(write(file, 2, "GIN"), 0);
    EXPECT_EQ(write(file, 5, " end"), 0);
    EXPECT_EQ(write(file, 5, "!"), 0);
    EXPECT_EQ(fsync(file), 0);
    EXPECT_EQ(server_.read_file("f"), way == O_DIRECT ? "beGIN end!" : "beGIN!end");
    release(file);
    forget(file.node, 1);
    std::filesystem::remove(server_.path("f"));
  }
}

// The kernel sends the parts of a large direct write at once, and takes in nothing behind one that
// failed.
TEST_F(WriteRequest, AnAppendGoesBehindADirectWriteThatHasFailedInPart) {
  server_.write_file("f", "begin");
  const Opened direct = kernel_open("f", O_WRONLY | O_DIRECT);
  const Opened file = open_node(direct.node, O_WRONLY | O_APPEND);
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  EXPECT_EQ(write(direct, 5, " one"), ENOSPC);
  EXPECT_EQ(write(direct, 9, " two"), 0);
  EXPECT_EQ(write(file, 5, " end"), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f").substr(9), " two end");
  release(file);
  release(direct);
}

// fcntl(F_SETFL) sets and clears O_APPEND after open(2).
TEST_F(WriteRequest, AppendsAsTheFlagsOfTheWriteSay) {
  server_.write_file("f", "begin");
  const Opened file = kernel_open("f", O_WRONLY | O_APPEND);
  Opened cleared = file;
  cleared.flags = O_WRONLY;
  EXPECT_EQ(write(cleared, 0, "BEG"), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "BEGin");
  release(file);
  const Opened plain = open_node(file.node, O_WRONLY);
  Opened set = plain;
  set.flags = O_WRONLY | O_APPEND;
  EXPECT_EQ(write(set, 5, " end"), 0);
  EXPECT_EQ(fsync(plain), 0);
  EXPECT_EQ(server_.read_file("f"), "BEGin end");
  release(plain);
}

// pwritev2(2) with RWF_DSYNC: where the kernel passes its pages by, no FSYNC follows.
TEST_F(WriteRequest, IsDurableBeforeItsAnswerWhereItsFlagsSaySo) {
  for (const int way : {O_DIRECT, 0}) {
    const Opened file = kernel_open("f", O_WRONLY | way);
    Opened durable = file;
    durable.flags |= O_DSYNC;
    EXPECT_EQ(write(durable, 0, "text"), 0);
    EXPECT_EQ(server_.read_file("f"), "text");
    const int before = commits();
    EXPECT_EQ(fsync(file), 0);
    EXPECT_EQ(commits(), before) << "it was not durable";
    release(file);
  }
}

/// Bytes that were written and not committed are lost by a restart that no request has met yet.
class ForgottenData : public WriteRequest {
 protected:
  Opened forgotten(int flags) {
    const Opened file = kernel_open("f", flags);
    EXPECT_EQ(write(file, 0, "first "), 0);
    reactor_.advance(2 * cache::WriteBehind::kLongest);
    reactor_.settle();
    EXPECT_EQ(server_.read_file("f"), "first ");
    server_.write_file("f", "");
    server_.reboot(0);
    fs_->find_file(file.fh)->inode->attributes().expire();
    return file;
  }
};

TEST_F(ForgottenData, AreNotWrittenOverByAnAppend) {
  for (const int way : {0, O_DIRECT}) {
    const Opened file = forgotten(O_WRONLY | O_APPEND | way);
    EXPECT_EQ(write(file, 6, "second"), 0);
    EXPECT_EQ(fsync(file), 0);
    EXPECT_EQ(server_.read_file("f"), "first second");
    release(file);
    server_.write_file("f", "");
  }
}

TEST_F(ForgottenData, CountInTheSize) {
  const Opened file = forgotten(O_WRONLY);
  EXPECT_EQ(getattr(file.node).size, 6U);
  EXPECT_EQ(server_.read_file("f"), "first ");
  release(file);
}

// Shown less, the kernel would cut its pages off, also those that a program has yet to write back.
TEST_F(ForgottenData, CountInTheSizeThatALookupShows) {
  const Opened file = forgotten(O_WRONLY);
  EXPECT_EQ(lookup("f").attr.size, 6U);
  release(file);
}

TEST_F(ForgottenData, AreRead) {
  const Opened file = forgotten(O_RDWR | O_DIRECT);
  EXPECT_EQ(read(file, 0, 100).text(), "first ");
  release(file);
}

TEST_F(ForgottenData, AreSentAgainWhenTheRestartIsKnown) {
  const Opened file = forgotten(O_WRONLY);
  EXPECT_EQ(ask(FUSE_STATFS, kRoot).error, 0);
  reactor_.settle();
  EXPECT_EQ(server_.read_file("f"), "first ");
  release(file);
}

// The kernel looks at the error of what it writes back, not at how much was written, and tells it
// to whoever waits for the page. So it is told none, and fsync tells it.
TEST_F(WriteRequest, AMappedPageThatIsWrittenInPartIsAnError) {
  const Opened file = kernel_open("f", O_RDWR | O_SYNC);
  server_.service().set_most_written(1000);
  server_.fate = [this, writes = 0](const Arrival& arrival) mutable {
    if (arrival.has(nfs4::OP_WRITE) && ++writes == 2) {
      server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
    }
    return Fate::answer;
  };
  EXPECT_EQ(write(file, 0, text_of(4096), FUSE_WRITE_CACHE), 0);
  EXPECT_EQ(fsync(file), ENOSPC);
  EXPECT_EQ(fsync(file), 0);
  server_.service().set_most_written(~std::size_t{0});
  release(file);
}

TEST_F(WriteRequest, AMappedPageOfAnAppendedFileHasItsPlace) {
  server_.write_file("f", "begin");
  const Opened file = kernel_open("f", O_WRONLY | O_APPEND);
  EXPECT_EQ(write(file, 0, "BEG", FUSE_WRITE_CACHE), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "BEGin");
  release(file);
}

// The kernel has put the bytes where it took the end to be: that page is wrong, too.
TEST_F(WriteRequest, AnAppendBehindAnotherClientsDropsThePageTheKernelTookForTheLast) {
  attach();
  server_.write_file("f", text_of(4090));
  const Opened file = kernel_open("f", O_RDWR | O_APPEND);
  read(file, 0, 4096);
  append_elsewhere(4090, text_of(4093));
  fs_->find_file(file.fh)->inode->attributes().expire();
  ASSERT_EQ(write(file, 4090, "mine"), 0);
  // A thread gives the order, and the write's patience, in virtual time, may end before.
  while (drops_of(file.node).empty()) std::this_thread::yield();
  ASSERT_EQ(drops_of(file.node).size(), 1U);
  EXPECT_EQ(drops_of(file.node)[0].offset, 0);
  EXPECT_EQ(drops_of(file.node)[0].length, 4096);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), text_of(4090) + text_of(4093) + "mine");
  release(file);
}

TEST_F(WriteRequest, AFailureIsTheAnswerOfWhoWaits) {
  const Opened file = kernel_open("f", O_WRONLY | O_DIRECT);
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  EXPECT_EQ(write(file, 0, "text"), ENOSPC);
  EXPECT_EQ(fsync(file), 0) << "it was told";
  EXPECT_EQ(write({file.node, file.fh + 1}, 0, "text"), EBADF);
  release(file);
}

TEST_F(WriteRequest, AFailureThatNobodyTakesIsToldByTheNextFsync) {
  const Opened file = kernel_open("f", O_WRONLY | O_DIRECT);
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  kernel_->takes_answers = false;
  begin_write(file, 0, "text");
  reactor_.advance(std::chrono::seconds(1));
  kernel_->takes_answers = true;
  EXPECT_EQ(fsync(file), ENOSPC);
  EXPECT_EQ(fsync(file), 0);
  release(file);
}

TEST_F(WriteRequest, OneThatFollowsAFailureIsSentAtOnce) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(write(file, 0, "lost"), 0);
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  EXPECT_EQ(fsync(file), ENOSPC);
  EXPECT_EQ(write(file, 0, "text"), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  release(file);
}

TEST_F(WriteRequest, DoesNotOvertakeOneOfTheSameBytes) {
  const Opened file = kernel_open("f", O_WRONLY | O_DIRECT);
  bool held = false;
  server_.fate = [&](const Arrival& arrival) {
    const bool hold = arrival.has(nfs4::OP_WRITE) && !std::exchange(held, true);
    return hold ? Fate::disconnect_before : Fate::answer;
  };
  const std::uint64_t first = begin_write(file, 0, "first");
  const std::uint64_t second = begin_write(file, 0, "later");
  EXPECT_EQ(end(first).error, 0);
  EXPECT_EQ(end(second).error, 0);
  EXPECT_EQ(server_.read_file("f"), "later");
  release(file);
}

TEST_F(WriteRequest, StructureAndPayloadMayLieApart) {
  const Opened file = kernel_open("f");
  kernel_->structure_apart = sizeof(fuse_write_in);
  EXPECT_EQ(write(file, 1, "text"), 0);
  kernel_->structure_apart = 0;
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), std::string(1, '\0') + "text");
  release(file);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
