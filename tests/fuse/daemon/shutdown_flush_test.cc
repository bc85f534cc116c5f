// P4: for how long the end of a mount goes on with what the server has not got.
#include "fuse/daemon/shutdown_flush.h"

#include "tests/fuse/ops/served_files.h"

namespace nfsrdma::fuse::test {
namespace {

using client::test::Arrival;
using client::test::Fate;
using client::test::Pending;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ShutdownFlushTest : public ServedFiles {
 protected:
  static constexpr milliseconds kPatience{2000};
  static constexpr Duration kTick = milliseconds(100);

  void leave_unanswered(nfs4::nfs_opnum4 opnum) {
    server_.fate = [opnum](const Arrival& arrival) {
      return arrival.has(opnum) ? Fate::hold : Fate::answer;
    };
  }
  void slow_down(nfs4::nfs_opnum4 opnum, milliseconds delay) {
    responder::OperationFault slow;
    slow.opnum = opnum;
    slow.times = 1'000'000;
    slow.delay = delay;
    server_.service().inject(slow);
  }
  /// An open file that only the file system knows of, with gathered bytes.
  void leave_open(const std::string& name, const std::string& text) {
    const FileRef file = open(name);
    if (!text.empty()) {
      EXPECT_TRUE(gather(file, 0, text));
    }
  }
  /// Ends everything, as the daemon does; how long the server was waited for.
  Duration finish_in_time() {
    ShutdownFlush shutdown_flush(reactor_, *fs_);
    const TimePoint begun = reactor_.now();
    Pending<bool> finishing(shutdown_flush.finish(kPatience));
    while (!finishing.done() && reactor_.now() - begun < std::chrono::hours(1)) {
      reactor_.advance(kTick);
    }
    EXPECT_TRUE(finishing.done());
    finished_ = finishing.done() && finishing.value();
    const Duration waited = reactor_.now() - begun;
    (void)run(mount().stop(finished_ ? kPatience : Duration::zero()));
    finish(shutdown_flush.end());
    return waited;
  }

  bool finished_ = false;
};

TEST_F(ShutdownFlushTest, SavesEverything) {
  leave_open("file", "text");
  finish_in_time();
  EXPECT_TRUE(finished_);
  EXPECT_EQ(server_.read_file("file"), "text");
}

TEST_F(ShutdownFlushTest, ASilentServerThatLacksNothingIsGivenLittleTime) {
  leave_open("file", "");
  leave_unanswered(nfs4::OP_CLOSE);
  EXPECT_LE(finish_in_time(), kPatience + kTick);
  EXPECT_FALSE(finished_);
}

TEST_F(ShutdownFlushTest, AServerThatIsAwayMayStillGetTheData) {
  leave_open("file", "text");
  server_.unreachable = true;
  server_.disconnect();
  reactor_.advance(seconds(20));  // the pause between attempts is long by now
  ShutdownFlush shutdown_flush(reactor_, *fs_);
  Pending<bool> finishing(shutdown_flush.finish(kPatience));
  reactor_.advance(ShutdownFlush::kSavePatience - seconds(3));
  EXPECT_FALSE(finishing.done());
  server_.unreachable = false;
  reactor_.advance(seconds(2));
  ASSERT_TRUE(finishing.done());
  EXPECT_TRUE(finishing.value());
  EXPECT_EQ(server_.read_file("file"), "text");
}

// A program that was killed has its files closed behind its back.
TEST_F(ShutdownFlushTest, DataOfFilesBeingClosedIsWaitedFor) {
  leave_open("file", "text");
  slow_down(nfs4::OP_WRITE, 3 * kPatience);
  const FileRef file = fs_->find_file(1);
  fs_->remove_file(file->id);
  spawn(fs_->files().close(file));
  finish_in_time();
  EXPECT_TRUE(finished_);
  EXPECT_EQ(server_.read_file("file"), "text");
}

TEST_F(ShutdownFlushTest, WaitingForASilentServerEnds) {
  leave_open("file", "text");
  leave_unanswered(nfs4::OP_WRITE);
  const Duration waited = finish_in_time();
  EXPECT_GE(waited, ShutdownFlush::kSavePatience);
  EXPECT_LE(waited, ShutdownFlush::kSavePatience + kTick);
  EXPECT_FALSE(finished_);
}

TEST_F(ShutdownFlushTest, AFileThatIsStuckLeavesTheOthersSaved) {
  leave_open("stuck", "");
  leave_open("file", "text");
  finish(fs_->files().writes().behind().flush_all());
  ASSERT_TRUE(gather(fs_->find_file(1), 0, "text"));
  leave_unanswered(nfs4::OP_WRITE);
  finish_in_time();
  EXPECT_FALSE(finished_);
  EXPECT_EQ(commits(), 1);
}

// Answers are not progress.
TEST_F(ShutdownFlushTest, PuttingOffEnds) {
  leave_open("file", "text");
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_DELAY, 1'000'000);
  EXPECT_LE(finish_in_time(), ShutdownFlush::kSavePatience + kTick);
  EXPECT_FALSE(finished_);
}

// Progress is, however slow: each answer takes longer than the server's silence may last when there
// is nothing to save, and those to one file together longer than it may last at all.
TEST_F(ShutdownFlushTest, ASlowServerGetsEverything) {
  constexpr int kFiles = 4;
  for (int i = 0; i < kFiles; ++i) leave_open("f" + std::to_string(i), "text");
  server_.service().set_never_stable(true);
  for (const auto operation : {nfs4::OP_WRITE, nfs4::OP_COMMIT}) {
    slow_down(operation,
              std::chrono::duration_cast<milliseconds>(ShutdownFlush::kSavePatience) * 4 / 5);
  }
  const Duration waited = finish_in_time();
  EXPECT_TRUE(finished_);
  EXPECT_GT(waited, ShutdownFlush::kSavePatience);
  for (int i = 0; i < kFiles; ++i) EXPECT_EQ(server_.read_file("f" + std::to_string(i)), "text");
}

}  // namespace
}  // namespace nfsrdma::fuse::test
