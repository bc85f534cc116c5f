// WRITEs beside each other: no byte goes over a later one, no append over what is there, and memory
// is bounded.
#include <fcntl.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

using client::test::Arrival;
using client::test::Fate;

class WriteOrderRequests : public KernelRequests {};

TEST_F(WriteOrderRequests, SmallAppendsFollowEachOther) {
  server_.write_file("f", "begin");
  const Opened file = kernel_open("f", O_WRONLY | O_APPEND);
  EXPECT_EQ(write(file, 5, " one"), 0);
  EXPECT_EQ(write(file, 9, " two"), 0);
  EXPECT_EQ(write(file, 30, " three"), 0) << "wherever the kernel takes the end to be";
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "begin one two three");
  release(file);
}

TEST_F(WriteOrderRequests, ADirectWriteGoesOverWhatIsGathered) {
  const Opened file = kernel_open("f");
  const Opened direct = open_node(file.node, O_WRONLY | O_DIRECT);
  EXPECT_EQ(write(file, 0, "gathered"), 0);
  EXPECT_EQ(write(direct, 4, "new!"), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "gathnew!");
  release(file);
  release(direct);
}

TEST_F(WriteOrderRequests, ADirectWriteWaitsForTheSameBytes) {
  const Opened file = kernel_open("f");
  const Opened direct = open_node(file.node, O_WRONLY | O_DIRECT);
  hold_writes();
  EXPECT_EQ(write(file, 0, text_of(kLarge)), 0);
  reactor_.settle();
  const std::uint64_t over = begin_write(direct, 100, "direct");
  reactor_.settle();
  EXPECT_EQ(arrived_writes(), 1);
  let_go();
  EXPECT_EQ(end(over).error, 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f").substr(100, 6), "direct");
  release(file);
  release(direct);
}

// The server's file never has a hole that another client could read.
TEST_F(WriteOrderRequests, AnAppendWaitsForTheWritesBeforeIt) {
  const Opened file = kernel_open("f");
  const Opened append = open_node(file.node, O_WRONLY | O_APPEND | O_DIRECT);
  hold_writes();
  EXPECT_EQ(write(file, 0, text_of(kLarge)), 0);
  reactor_.settle();
  const std::uint64_t appended = begin_write(append, kLarge, "end");
  reactor_.settle();
  EXPECT_EQ(arrived_writes(), 1);
  let_go();
  EXPECT_EQ(end(appended).error, 0);
  EXPECT_TRUE(server_.read_file("f") == text_of(kLarge) + "end");
  release(file);
  release(append);
}

TEST_F(WriteOrderRequests, AGatheredAppendWaitsForTheWritesBeforeIt) {
  const Opened file = kernel_open("f");
  const Opened append = open_node(file.node, O_WRONLY | O_APPEND);
  hold_writes();
  EXPECT_EQ(write(file, 0, text_of(kLarge)), 0);
  reactor_.settle();
  const std::uint64_t appended = begin_write(append, kLarge, "end");
  reactor_.advance(cache::WriteBehind::kLongest);
  reactor_.settle();
  EXPECT_EQ(arrived_writes(), 1);
  let_go();
  EXPECT_EQ(end(appended).error, 0);
  EXPECT_EQ(fsync(append), 0);
  EXPECT_TRUE(server_.read_file("f") == text_of(kLarge) + "end");
  release(file);
  release(append);
}

class KnownEnd : public WriteOrderRequests {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig wanted;
    wanted.attributes.acregmin = 10 * kSoft;
    return wanted;
  }
};

// Its caller was killed, or has waited for as long as timeo says.
TEST_F(KnownEnd, CountsAnAppendThatWasAnsweredEarly) {
  for (const int way : {0, O_DIRECT}) {
    make_soft_kernel(ETIMEDOUT);
    server_.write_file("f", "0123");
    const Opened durable = kernel_open("f", O_WRONLY | O_APPEND | O_SYNC);
    const Opened later = open_node(durable.node, O_WRONLY | O_APPEND | way);
    hold_writes();
    EXPECT_EQ(write(durable, 4, "AAAAAAAA"), ETIMEDOUT);
    const std::uint64_t appended = begin_write(later, 4, "bb");
    reactor_.settle();
    let_go();
    EXPECT_EQ(end(appended).error, 0);
    EXPECT_EQ(fsync(later), 0);
    EXPECT_EQ(server_.read_file("f"), "0123AAAAAAAAbb") << way;
    release(durable);
    release(later);
  }
}

TEST_F(WriteOrderRequests, ATruncationWaitsForADirectWrite) {
  const Opened file = kernel_open("f", O_RDWR | O_DIRECT);
  hold_writes();
  const std::uint64_t written = begin_write(file, 0, "a text");
  reactor_.settle();
  fuse_setattr_in cut{};
  cut.valid = FATTR_SIZE | FATTR_FH;
  cut.fh = file.fh;
  cut.size = 1;
  const std::uint64_t cutting = begin(FUSE_SETATTR, file.node, cut);
  reactor_.settle();
  EXPECT_EQ(server_.successes_of(nfs4::OP_SETATTR), 0);
  let_go();
  EXPECT_EQ(end(written).error, 0);
  EXPECT_EQ(end(cutting).error, 0);
  EXPECT_EQ(server_.read_file("f"), "a");
  release(file);
}

TEST_F(WriteOrderRequests, DirectWritesWaitForMemoryAndGetIt) {
  server_.service().set_never_stable(true);
  const Opened file = kernel_open("f", O_WRONLY | O_DIRECT);
  for (std::size_t i = 0; i < 3 * kSlots; ++i) {
    EXPECT_EQ(write(file, i * kLarge, text_of(kLarge)), 0) << i;
    EXPECT_LE(fs_counter("cache_slots_uncommitted"), (kSlots - 1) / 2) << i;
  }
  EXPECT_EQ(fsync(file), 0);
  release(file);
}

TEST_F(WriteOrderRequests, DirectWritesHaveMemoryMadeBeforeItIsFull) {
  server_.service().set_never_stable(true);
  const Opened file = kernel_open("f", O_WRONLY | O_DIRECT);
  std::size_t at = 0;
  for (; !fs_->files().writes().memory().filling(); at += kLarge) {
    ASSERT_EQ(write(file, at, text_of(kLarge)), 0);
  }
  ASSERT_EQ(commits(), 0);
  EXPECT_EQ(write(file, at, text_of(kLarge)), 0);
  EXPECT_EQ(commits(), 1);
  release(file);
}

// Without a slot no request is taken from the kernel, so none that would have it made.
TEST_F(WriteOrderRequests, WritesThatTakeAllMemoryTogetherHaveItMade) {
  server_.service().set_never_stable(true);
  const Opened file = kernel_open("f", O_WRONLY | O_DIRECT);
  hold_writes();
  std::vector<std::uint64_t> begun;
  for (std::size_t i = 0; i < kMessageSlots; ++i)
    begun.push_back(begin_write(file, i * kLarge, text_of(kLarge)));
  reactor_.settle();
  ASSERT_EQ(message_slots_->available(), 0U);
  let_go();
  for (const std::uint64_t write : begun) EXPECT_EQ(end(write).error, 0);
  reactor_.advance(std::chrono::seconds(10));
  EXPECT_GE(commits(), 1);
  EXPECT_GT(message_slots_->available(), 0U);
  EXPECT_EQ(fsync(file), 0);
  release(file);
}

TEST_F(WriteOrderRequests, LargeWritesWaitForMemoryAndGetIt) {
  server_.service().set_never_stable(true);
  const Opened file = kernel_open("f");
  for (std::size_t i = 0; i < 3 * kSlots; ++i) {
    EXPECT_EQ(write(file, i * kLarge, text_of(kLarge)), 0) << i;
    EXPECT_LE(fs_counter("cache_slots_uncommitted"), (kSlots - 1) / 2) << i;
  }
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f").size(), 3 * kSlots * kLarge);
  release(file);
}

TEST_F(WriteOrderRequests, WritersAreAnsweredEarlyAgainWhenOneHasSucceeded) {
  const Opened file = kernel_open("f");
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  EXPECT_EQ(write(file, 0, "lost"), 0);
  EXPECT_EQ(fsync(file), ENOSPC);
  EXPECT_EQ(write(file, 0, "sent"), 0);
  const int sent = writes();
  EXPECT_EQ(write(file, 4, " later"), 0);
  EXPECT_EQ(writes(), sent);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "sent later");
  release(file);
}

TEST_F(WriteOrderRequests, AFullBlockIsNotGatheredWithTheNext) {
  const Opened file = kernel_open("f");
  const std::string text = text_of(5 * kSlotBytes);
  for (std::size_t at = 0; at < text.size(); at += kLarge / 2)
    EXPECT_EQ(write(file, at, std::string_view(text).substr(at, kLarge / 2)), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_TRUE(server_.read_file("f") == text);
  release(file);
}

// RFC 8881 section 18.32.3: a server may take fewer bytes than it was sent.
TEST_F(WriteOrderRequests, WhatTheServerTookInPartsIsWhole) {
  const std::string text = text_of(kLarge);
  server_.service().set_most_written(10000);
  const Opened file = kernel_open("f");
  const Opened direct = open_node(file.node, O_WRONLY | O_DIRECT);
  EXPECT_EQ(write(file, 0, text), 0);
  EXPECT_EQ(write(direct, kLarge, text), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_TRUE(server_.read_file("f") == text + text);
  release(file);
  release(direct);
}

TEST_F(WriteOrderRequests, ADirectWriteThatFailsInItsMiddleComesToWhatTheServerTook) {
  server_.service().set_most_written(10000);
  const Opened direct = kernel_open("f", O_WRONLY | O_DIRECT);
  server_.after = [this](const Arrival& arrival) {
    if (arrival.has(nfs4::OP_WRITE)) server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  };
  const Answer answer = end(begin_write(direct, 0, text_of(kLarge)));
  server_.after = nullptr;
  EXPECT_EQ(answer.error, 0);
  EXPECT_EQ(answer.as<fuse_write_out>().size, 10000U);
  release(direct);
}

TEST_F(WriteOrderRequests, AWriteBehindThatFailsInItsMiddleIsTold) {
  server_.service().set_most_written(10000);
  const Opened file = kernel_open("f");
  server_.after = [this](const Arrival& arrival) {
    if (arrival.has(nfs4::OP_WRITE)) server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  };
  EXPECT_EQ(write(file, 0, text_of(kLarge)), 0);
  EXPECT_EQ(fsync(file), ENOSPC);
  server_.after = nullptr;
  release(file);
}

TEST_F(WriteOrderRequests, AReadWaitsForTheDirectWriteOfItsBytes) {
  server_.write_file("f", "old old old");
  const Opened file = kernel_open("f");
  const Opened direct = open_node(file.node, O_WRONLY | O_DIRECT);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_WRITE) ? Fate::disconnect_before : Fate::answer;
  };
  server_.unreachable = true;
  const std::uint64_t written = begin_write(direct, 0, "new new new");
  reactor_.settle();
  const std::uint64_t unique = begin(FUSE_READ, file.node, read_in(file, 0, 11));
  reactor_.settle();
  server_.fate = nullptr;
  server_.unreachable = false;
  EXPECT_EQ(end(unique).text(), "new new new");
  EXPECT_EQ(end(written).error, 0);
  release(file);
  release(direct);
}

class SynchronousMount : public WriteOrderRequests {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig wanted;
    wanted.synchronous = true;
    return wanted;
  }
};

TEST_F(SynchronousMount, AWriteIsDurableWhenItIsAnswered) {
  const Opened file = kernel_open("f");
  EXPECT_EQ(write(file, 0, "text"), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(commits(), 0);
  release(file);
}

class UncachedMount : public WriteOrderRequests {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig wanted;
    wanted.attributes.noac = true;
    return wanted;
  }
};

TEST_F(UncachedMount, OthersSeeAWriteWhenItIsAnswered) {
  const Opened file = kernel_open("f");
  EXPECT_EQ(write(file, 0, "text"), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  release(file);
}

class LeftOpen : public WriteOrderRequests {};

TEST_F(LeftOpen, WhatWasWrittenIsSentWhenTheMountEnds) {
  const Opened file = kernel_open("f");
  EXPECT_EQ(write(file, 0, "text"), 0);
  finish(fs_->finish());
  EXPECT_EQ(server_.read_file("f"), "text");
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
}

TEST_F(LeftOpen, AReaderMakesDurableWhatOthersWrote) {
  const Opened file = kernel_open("f");
  const Opened reader = open_node(file.node, O_RDONLY);
  EXPECT_EQ(write(file, 0, "text"), 0);
  EXPECT_EQ(fsync(reader), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  release(file);
  release(reader);
}

// The rest was not written, as far as the program knows.
TEST_F(WriteOrderRequests, OnlyWhatTheServerTookIsSentAgain) {
  server_.service().set_most_written(10000);
  const Opened direct = kernel_open("f", O_WRONLY | O_DIRECT);
  server_.after = [this](const Arrival& arrival) {
    if (arrival.has(nfs4::OP_WRITE)) server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  };
  EXPECT_EQ(end(begin_write(direct, 0, text_of(kLarge))).as<fuse_write_out>().size, 10000U);
  server_.after = nullptr;
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4_OK, 0);
  server_.service().set_most_written(kLarge);
  server_.write_file("f", "");
  server_.reboot(0);
  EXPECT_EQ(fsync(direct), 0);
  EXPECT_TRUE(server_.read_file("f") == text_of(10000));
  release(direct);
}

class LittleDirtyMemory : public WriteOrderRequests {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig wanted;
    wanted.data.dirty_ratio = 25;
    return wanted;
  }
};

TEST_F(LittleDirtyMemory, ADirectWriteWaitsUntilThereIsSome) {
  server_.service().set_never_stable(true);
  const Opened file = kernel_open("f", O_WRONLY | O_DIRECT);
  hold(nfs4::OP_COMMIT);
  std::size_t at = 0;
  for (; !fs_->files().writes().memory().full(); at += kLarge) {
    ASSERT_EQ(write(file, at, text_of(kLarge)), 0);
  }
  const auto waiting = begin_write(file, at, text_of(kLarge));
  reactor_.settle();
  EXPECT_FALSE(kernel_->answered(waiting));
  let_go();
  EXPECT_EQ(end(waiting).error, 0);
  EXPECT_EQ(fsync(file), 0);
  release(file);
}

// soft: its caller has had an error, and may have cut the file or written the place again.
TEST_F(LittleDirtyMemory, AWriteThatWasRefusedWhileItWaitedIsNotWrittenLater) {
  make_soft_kernel(EIO);
  server_.service().set_never_stable(true);
  for (const int way : {0, O_APPEND, O_DIRECT}) {
    const Opened full = kernel_open("full", O_WRONLY);
    const Opened file = kernel_open("f", O_WRONLY | way);
    hold(nfs4::OP_COMMIT);
    for (std::size_t at = 0; !fs_->files().writes().memory().full(); at += kLarge) {
      ASSERT_EQ(write(full, at, text_of(kLarge)), 0);
    }
    const auto refused = begin_write(file, 0, "late");
    EXPECT_EQ(end(refused).error, EIO);
    let_go();
    EXPECT_EQ(fsync(full), 0);
    EXPECT_EQ(fsync(file), 0);
    reactor_.advance(2 * cache::WriteBehind::kLongest);
    reactor_.settle();
    EXPECT_EQ(server_.read_file("f"), "") << way;
    release(file);
    release(full);
  }
}

}  // namespace
}  // namespace nfsrdma::fuse::test
