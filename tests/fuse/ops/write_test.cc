// WRITE: where the bytes go, when, and who is told what became of them.
#include <fcntl.h>

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

TEST_F(WriteRequest, ALargeOneIsSentAtOnceFromTheSlotItCameIn) {
  const std::string text = text_of(100000);
  const Opened file = kernel_open("f");
  EXPECT_EQ(write(file, 5, text), 0);
  EXPECT_GE(writes(), 1);
  EXPECT_EQ(server_.read_file("f"), std::string(5, '\0') + text);
  EXPECT_EQ(fsync(file), 0);
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
  server_.write_file("f", "begin");
  const Opened file = kernel_open("f", O_WRONLY | O_APPEND);
  EXPECT_EQ(write(file, 2, " end"), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "begin end");
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
