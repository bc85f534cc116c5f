// Files that get one write(2) each: their bytes are under way before close(2) asks for them.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "cache/write/set_attributes.h"
#include "tests/cache/served_files.h"

namespace nfsrdma::cache::test {
namespace {

class OneWriteFilesTest : public ServedFiles {
 protected:
  /// write(2), up to its answer and what follows it.
  void write(const FileRef& file, std::uint64_t offset, const std::string& text) {
    ASSERT_TRUE(gather(file, offset, text));
    files().writes().behind().after_answer(*file->shared);
    reactor_.settle();
  }
  /// As many files, each written once and flushed, as make the next one likely to be such a one.
  void SetUp() override {
    ServedFiles::SetUp();
    for (unsigned i = 0; i < OneWriteFiles::kSure; ++i) {
      EXPECT_EQ(early(), 0u);
      write_once("sure" + std::to_string(i));
    }
    writes_before_ = writes();
  }
  void write_once(const std::string& name) {
    FileRef file = open(name);
    write(file, 0, "text");
    commit(file);
  }
  /// fchmod(2)
  void change_mode(const FileRef& file) {
    AttributeChange change;
    change.caller = caller();
    change.set.mode = 0600;
    ASSERT_TRUE(run(set_attributes(files().writes(), file->inode, file, change)));
  }
  client::test::Pending<bool> begin_commit(const FileRef& file) {
    return client::test::Pending<bool>(ended(commit_file(files().writes(), file)));
  }
  int more_writes() const { return writes() - writes_before_; }
  std::uint64_t early() const { return files_counter("cache_gathered_sent_early"); }

 private:
  int writes_before_ = 0;
};

TEST_F(OneWriteFilesTest, IsDurableBeforeCloseAsksForIt) {
  FileRef file = open("f");
  write(file, 0, "text");
  EXPECT_EQ(server_.read_file("f"), "text");
  commit(file);
  EXPECT_EQ(more_writes(), 1);
  EXPECT_EQ(commits(), 0);
  EXPECT_EQ(early(), 1u);
}

TEST_F(OneWriteFilesTest, TheFlushWaitsForIt) {
  FileRef file = open("f");
  hold_writes();
  write(file, 0, "text");
  EXPECT_EQ(early(), 1u);
  client::test::Pending<bool> flushed = begin_commit(file);
  reactor_.settle();
  EXPECT_FALSE(flushed.done());
  let_go();
  EXPECT_TRUE(finish(flushed));
  EXPECT_EQ(server_.read_file("f"), "text");
}

TEST_F(OneWriteFilesTest, AFailureIsToldByTheFlush) {
  FileRef file = open("f");
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  write(file, 0, "text");
  EXPECT_EQ(server_.failures_left(nfs4::OP_WRITE), 0);
  commit(file);
  EXPECT_EQ(take_error(file), ENOSPC);
}

TEST_F(OneWriteFilesTest, AnotherWriteNeedsNoCommitEither) {
  FileRef file = open("f");
  hold_writes();
  write(file, 0, "one ");
  EXPECT_EQ(early(), 1u);
  write(file, 4, "two");
  EXPECT_EQ(early(), 1u) << "one of a file, until it is flushed";
  client::test::Pending<bool> flushed = begin_commit(file);
  let_go();
  EXPECT_TRUE(finish(flushed));
  EXPECT_EQ(server_.read_file("f"), "one two");
  EXPECT_EQ(commits(), 0);
}

TEST_F(OneWriteFilesTest, AFileOfSeveralWritesEndsIt) {
  FileRef several = open("several");
  write(several, 0, "one ");
  write(several, 4, "two");
  commit(several);
  const std::uint64_t before = early();
  for (unsigned i = 0; i < OneWriteFiles::kSure; ++i) write_once("again" + std::to_string(i));
  EXPECT_EQ(early(), before);
  write_once("f");
  EXPECT_EQ(early(), before + 1);
}

TEST_F(OneWriteFilesTest, ALargeWriteCountsToo) {
  FileRef file = open("several");
  write(file, 0, "text");
  ASSERT_TRUE(take_over(file, 4, std::string(kLarge, 'l')));
  commit(file);
  const std::uint64_t before = early();
  write_once("f");
  EXPECT_EQ(early(), before);
}

TEST_F(OneWriteFilesTest, OfFilesSideBySideOneIsTakenForSuch) {
  FileRef one = open("one");
  FileRef two = open("two");
  write(one, 0, "one");
  write(two, 0, "two");
  EXPECT_EQ(early(), 1u);
  commit(one);
  write(one, 0, "again");
  EXPECT_EQ(early(), 2u);
  commit(one);
  commit(two);
  EXPECT_EQ(commits(), 0);
}

TEST_F(OneWriteFilesTest, ButNotBesideDataThatNeedACommitAnyhow) {
  FileRef file = open("f");
  ASSERT_TRUE(take_over(file, 0, std::string(kLarge, 'l')));
  finish(files().writes().behind().flush_durably(file->shared));
  ASSERT_FALSE(file->shared->uncommitted.empty());
  write(file, kLarge, "text");
  EXPECT_EQ(early(), 0u);
  commit(file);
  EXPECT_EQ(commits(), 1);
}

TEST_F(OneWriteFilesTest, AWriteThatItsCallerSendsCountsToo) {
  FileRef file = open("f");
  write(file, 0, "text");
  files().writes().behind().count_write(*file->shared);
  commit(file);
  const std::uint64_t before = early();
  write_once("g");
  EXPECT_EQ(early(), before);
}

TEST_F(OneWriteFilesTest, ChangedAttributesAreAFlush) {
  FileRef file = open("f");
  write(file, 0, "text");
  change_mode(file);
  write(file, 0, "more");
  EXPECT_EQ(early(), 2u);
  commit(file);
}

// RFC 8881 section 18.32.3: it must not.
TEST_F(OneWriteFilesTest, AServerThatDoesNotMakeItDurableIsAskedForACommit) {
  server_.service().set_never_stable(true);
  FileRef file = open("f");
  write(file, 0, "text");
  EXPECT_EQ(early(), 1u);
  commit(file);
  EXPECT_EQ(commits(), 1);
}

TEST_F(OneWriteFilesTest, OneOnItsWayOverARestartIsSentAgain) {
  FileRef file = open("f");
  server_.fate = [this](const client::test::Arrival& arrival) {
    if (!arrival.has(nfs4::OP_WRITE)) return client::test::Fate::answer;
    server_.fate = nullptr;
    server_.reboot(0);
    return client::test::Fate::disconnect_before;
  };
  write(file, 0, "text");
  EXPECT_EQ(early(), 1u);
  commit(file);
  EXPECT_EQ(server_.read_file("f"), "text");
  EXPECT_EQ(take_error(file), 0);
}

}  // namespace
}  // namespace nfsrdma::cache::test
