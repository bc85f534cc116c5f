// What was written becomes durable, or a caller is told (RFC 8881 sections 18.3, 18.32).
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "cache/write/send_write.h"
#include "tests/cache/served_files.h"

namespace nfsrdma::cache::test {
namespace {

using client::test::Arrival;
using client::test::Fate;

class Durability : public ServedFiles {
 protected:
  /// Text that the server has and has not made durable.
  FileRef written(const std::string& text) {
    FileRef file = open("f");
    EXPECT_TRUE(gather(file, 0, text));
    flush(file);
    return file;
  }
  /// The server restarts, and has lost what was not durable.
  void lose_what_was_written() {
    server_.write_file("f", "");
    server_.reboot(0);
  }
  /// Sends the text by as many WRITEs as it takes.
  void send(const FileRef& file, const std::string& text) {
    auto pool = std::move(*BufferPool::create(text.size(), 1));
    Buffer slot = pool->acquire();
    const auto data = std::as_bytes(std::span(text));
    std::ranges::copy(data, slot.bytes().begin());
    const Outgoing outgoing{&slot, slot.first(text.size()), 0};
    auto sent = run(send_write(files().writes(), file, outgoing));
    ASSERT_TRUE(sent) << sent.error().message();
    EXPECT_EQ(*sent, text.size());
    big_slots_.push_back(std::move(pool));
  }

  std::vector<std::unique_ptr<BufferPool>> big_slots_;  ///< outlive what is kept in them
};

TEST_F(Durability, AFailedCommitIsToldOnce) {
  FileRef file = written("text");
  server_.fail(nfs4::OP_COMMIT, nfs4::NFS4ERR_IO);
  commit(file);
  EXPECT_EQ(take_error(file), EIO);
  EXPECT_EQ(take_error(file), 0);
}

TEST_F(Durability, WhatCannotBeSentAgainIsToldOnce) {
  FileRef file = written("text");
  lose_what_was_written();
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC, 2);
  commit(file);
  EXPECT_EQ(take_error(file), ENOSPC);
  EXPECT_EQ(take_error(file), 0);
  EXPECT_TRUE(file->shared->uncommitted.empty());
  EXPECT_EQ(server_.failures_left(nfs4::OP_WRITE), 1) << "it is given up at once";
}

TEST_F(Durability, EachPartOfAWriteIsKeptForItself) {
  FileRef file = open("f");
  const std::size_t wsize = mount().wsize();
  std::string text;
  while (text.size() < wsize + wsize / 2) text += "byte " + std::to_string(text.size()) + ' ';
  send(file, text);
  EXPECT_EQ(writes(), 2);
  lose_what_was_written();
  commit(file);
  EXPECT_TRUE(server_.read_file("f") == text) << "the parts are sent again, each in its place";
  EXPECT_EQ(take_error(file), 0);
}

// RFC 8881 section 18.32.3: what is answered UNSTABLE4 is durable after a COMMIT, and not before.
TEST_F(Durability, AnUnstableAnswerToWhatIsSentAgainIsCommitted) {
  FileRef file = written("text");
  lose_what_was_written();
  server_.service().set_never_stable(true);
  commit(file);
  EXPECT_EQ(commits(), 2) << "one that found the text lost, and one for what was sent again";
  EXPECT_EQ(server_.read_file("f"), "text");
  EXPECT_TRUE(file->shared->uncommitted.empty());
  EXPECT_EQ(take_error(file), 0);
}

TEST_F(Durability, WhatWasSentAgainAndLostAgainIsSentOnceMore) {
  FileRef file = written("text");
  lose_what_was_written();
  server_.service().set_never_stable(true);
  int commits_seen = 0;
  server_.fate = [&](const Arrival& arrival) {
    if (arrival.has(nfs4::OP_COMMIT) && ++commits_seen == 2) {
      lose_what_was_written();
      return Fate::disconnect_before;
    }
    return Fate::answer;
  };
  commit(file);
  EXPECT_EQ(server_.read_file("f"), "text");
  EXPECT_TRUE(file->shared->uncommitted.empty());
  EXPECT_EQ(take_error(file), 0);
}

TEST_F(Durability, AServerThatKeepsNothingIsNotAskedForEver) {
  FileRef file = written("text");
  lose_what_was_written();
  server_.service().set_never_stable(true);
  server_.after = [&](const Arrival& arrival) {
    if (arrival.has(nfs4::OP_WRITE)) server_.reboot(0);
  };
  commit(file);
  server_.after = nullptr;
  EXPECT_EQ(take_error(file), EIO);
  EXPECT_TRUE(file->shared->uncommitted.empty());
}

TEST_F(Durability, WhoIsNotToldLeavesTheErrorToTheNext) {
  FileRef file = written("text");
  server_.fail(nfs4::OP_COMMIT, nfs4::NFS4ERR_IO);
  commit(file);
  EXPECT_EQ(file->shared->errors.due(file->errors_seen), EIO);
  EXPECT_TRUE(file->shared->errors.unreported());
  FileRef later = open("f");
  EXPECT_EQ(take_error(later), EIO);
  EXPECT_EQ(take_error(file), EIO);
}

TEST_F(Durability, WhatIsSentAgainInPartsIsWhole) {
  FileRef file = written("a text of some length");
  lose_what_was_written();
  server_.service().set_most_written(4);
  commit(file);
  EXPECT_EQ(server_.read_file("f"), "a text of some length");
  EXPECT_EQ(take_error(file), 0);
  EXPECT_TRUE(file->shared->uncommitted.empty());
}

TEST_F(Durability, WhatIsSentAgainInPartsAndUnstableIsWhole) {
  FileRef file = written("a text of some length");
  lose_what_was_written();
  server_.service().set_most_written(4);
  server_.service().set_never_stable(true);
  commit(file);
  EXPECT_EQ(server_.read_file("f"), "a text of some length");
  EXPECT_EQ(take_error(file), 0);
  EXPECT_TRUE(file->shared->uncommitted.empty());
}

// A COMMIT for it would be one request more for each WRITE.
TEST_F(Durability, WhatIsSentAgainIsDurableAtOnce) {
  FileRef file = written("text");
  lose_what_was_written();
  commit(file);
  EXPECT_EQ(commits(), 1) << "the one that found the text lost";
}

TEST_F(Durability, NoWriteRunsBesideWhatIsSentAgain) {
  FileRef file = written("old text");
  lose_what_was_written();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_WRITE) ? Fate::hold : Fate::answer;
  };
  client::test::Pending<bool> committing(ended(commit_file(files().writes(), file)));
  reactor_.settle();
  ASSERT_EQ(writes(), 2) << "it is being sent again";
  ASSERT_TRUE(gather(file, 0, "new"));
  files().writes().behind().send(*file->shared);
  reactor_.settle();
  EXPECT_EQ(writes(), 2);
  server_.fate = nullptr;
  server_.disconnect();
  EXPECT_TRUE(finish(committing));
  commit(file);
  EXPECT_EQ(server_.read_file("f"), "new text");
}

// It was chosen, and has been closed while it waited for a COMMIT. Without an open the server asks
// who may write the file.
TEST_F(Durability, LostDataGoesByAnOpenThatIsLeft) {
  FileRef file = open("f");
  client::Credential other = caller();
  other.uid += 1;
  FileRef chosen = open_as(other, "f");
  const FileRef closed = chosen;
  close(chosen);
  std::filesystem::permissions(server_.path("f"), std::filesystem::perms(0600));
  ASSERT_TRUE(gather(file, 0, "text"));
  flush(file);
  lose_what_was_written();
  commit(closed);
  EXPECT_EQ(take_error(file), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  EXPECT_TRUE(file->shared->uncommitted.empty());
}

// What is durable by a WRITE of its own needs no older bytes.
TEST_F(Durability, WhatWasWrittenDurablyIsNotReplacedByWhatWasBefore) {
  FileRef file = written("old");
  auto pool = std::move(*BufferPool::create(kSlotBytes, 1));
  Buffer slot = pool->acquire();
  std::ranges::copy(std::as_bytes(std::span("new", 3)), slot.bytes().begin());
  Outgoing outgoing{&slot, slot.first(3), 0};
  outgoing.stable = nfs4::FILE_SYNC4;
  ASSERT_TRUE(run(send_write(files().writes(), file, outgoing)));
  server_.reboot(0);
  commit(file);
  EXPECT_EQ(server_.read_file("f"), "new");
}

// One credential for all bytes of a WRITE.
TEST_F(Durability, BytesOfTwoUsersGoInTwoWrites) {
  FileRef one = open("f");
  client::Credential other = caller();
  other.uid += 1;
  FileRef two = open_as(other, "f");
  std::vector<std::uint32_t> writers;
  server_.after = [&](const Arrival& arrival) {
    if (arrival.has(nfs4::OP_WRITE)) writers.push_back(arrival.caller.uid);
  };
  ASSERT_TRUE(gather(one, 0, "mine "));
  ASSERT_TRUE(gather(two, 5, "theirs"));
  flush(one);
  server_.after = nullptr;
  EXPECT_EQ(writers, (std::vector<std::uint32_t>{caller().uid, other.uid}));
  EXPECT_EQ(server_.read_file("f"), "mine theirs");
}

}  // namespace
}  // namespace nfsrdma::cache::test
