// What is read before a program asks for it: used when it is right, dropped when it may not be.
#include <fcntl.h>

#include <vector>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

using client::test::Arrival;
using client::test::Fate;

constexpr std::uint32_t kRequest = 16 << 10;  ///< bytes of the kernel's reads

class ReadAheadRequests : public KernelRequests {
 protected:
  explicit ReadAheadRequests(responder::DelegationKind delegations = {})
      : KernelRequests(delegations) {}
  FileSystemConfig config() const override {
    FileSystemConfig config;
    config.data.read_ahead = kMost;
    return config;
  }

  /// A file of `requests` reads' length that is open, and its text.
  Opened make(std::uint32_t requests, int flags = O_RDWR) {
    text_ = text_of(std::size_t{requests} * kRequest);
    server_.write_file("f", text_);
    return kernel_open("f", flags);
  }
  std::uint64_t begin_read(const Opened& file, std::uint64_t nth) {
    return begin(FUSE_READ, file.node, read_in(file, nth * kRequest, kRequest));
  }
  std::string part(const Opened& file, std::uint64_t nth) {
    return read(file, nth * kRequest, kRequest).text();
  }
  std::string expected(std::uint64_t nth) const {
    return nth * kRequest < text_.size() ? text_.substr(nth * kRequest, kRequest) : "";
  }
  /// Reads on until something is read ahead.
  void start(const Opened& file) {
    EXPECT_EQ(part(file, 0), expected(0));
    EXPECT_EQ(part(file, 1), expected(1));
    reactor_.settle();
    EXPECT_GT(slots_used(), 0U) << "nothing was read ahead";
  }
  /// What another client writes there instead.
  void change_elsewhere() {
    text_ = std::string(text_.size(), '#');
    server_.write_file("f", text_);
  }
  void hold_reads() { hold(nfs4::OP_READ); }
  int reads() const { return server_.successes_of(nfs4::OP_READ); }
  std::uint64_t slots_used() const { return fs_counter("cache_read_ahead_slots"); }
  std::uint64_t used() const { return fs_counter("cache_read_ahead_bytes_used"); }
  std::uint64_t dropped() const { return fs_counter("cache_read_ahead_bytes_dropped"); }

  static constexpr std::size_t kMost = std::size_t{4} << 20;
  static constexpr std::size_t kMostPieces = kSlots / 4;
  std::string text_;
};

TEST_F(ReadAheadRequests, ASequentialReaderGetsWhatHasArrivedBefore) {
  const Opened file = make(64);
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(part(file, i), expected(i));
  EXPECT_EQ(part(file, 64), "");
  EXPECT_LE(reads(), 16);
  EXPECT_EQ(used(), 62U * kRequest) << "all but the first two";
  EXPECT_EQ(dropped(), 0U);
  EXPECT_EQ(fs_counter("cache_read_ahead_bytes_copied"), 0U);
  release(file);
  EXPECT_EQ(slots_used(), 0U);
}

TEST_F(ReadAheadRequests, RequestsOfAnotherLengthAreStillRight) {
  const Opened file = make(64);
  start(file);
  std::string all = text_.substr(0, 2 * kRequest);
  while (all.size() < text_.size()) {
    const Answer answer = read(file, all.size(), 24 << 10);
    ASSERT_EQ(answer.error, 0);
    ASSERT_FALSE(answer.body.empty());
    all += answer.text();
  }
  EXPECT_TRUE(all == text_);
  release(file);
}

TEST_F(ReadAheadRequests, ARandomReaderHasNothingReadAhead) {
  const Opened file = make(64);
  for (const std::uint64_t i : {40, 3, 50, 11, 9, 60, 1, 33, 20}) {
    EXPECT_EQ(part(file, i), expected(i));
  }
  EXPECT_EQ(reads(), 9);
  EXPECT_EQ(fs_counter("cache_read_ahead_bytes"), 0U);
  release(file);
}

TEST_F(ReadAheadRequests, AStridedReaderHasTheNextStepsReadAhead) {
  const Opened file = make(64);
  for (std::uint64_t i = 0; i < 64; i += 5) EXPECT_EQ(part(file, i), expected(i));
  EXPECT_EQ(reads(), 13) << "no step is read twice";
  EXPECT_EQ(used(), 10U * kRequest);
  release(file);
  EXPECT_EQ(dropped(), 0U);
}

TEST_F(ReadAheadRequests, AReaderThatJumpsAwayHasItDropped) {
  const Opened file = make(64);
  start(file);
  EXPECT_EQ(part(file, 60), expected(60));
  EXPECT_EQ(slots_used(), 0U);
  EXPECT_GT(dropped(), 0U);
  release(file);
}

TEST_F(ReadAheadRequests, AReaderThatStopsGivesTheMemoryBack) {
  const Opened file = make(64);
  EXPECT_EQ(part(file, 0), expected(0));
  const std::size_t timers = reactor_.timers_armed();
  EXPECT_EQ(part(file, 1), expected(1));
  ASSERT_GT(slots_used(), 0U);
  reactor_.advance(3 * cache::ReadAhead::kIdle);
  EXPECT_EQ(slots_used(), 0U);
  EXPECT_LE(reactor_.timers_armed(), timers) << "nothing looks for it any more";
  EXPECT_EQ(part(file, 2), expected(2)) << "it may go on all the same";
  release(file);
}

TEST_F(ReadAheadRequests, OwnWritesAreSeen) {
  const Opened file = make(64);
  start(file);
  const std::string written(kRequest, 'w');
  ASSERT_EQ(write(file, 3 * kRequest, written), 0);
  EXPECT_EQ(part(file, 2), expected(2));
  EXPECT_TRUE(part(file, 3) == written);
  EXPECT_EQ(part(file, 4), expected(4));
  ASSERT_EQ(write(file, 6 * kRequest, written, FUSE_WRITE_CACHE), 0);
  EXPECT_TRUE(part(file, 5) == expected(5));
  EXPECT_TRUE(part(file, 6) == written);
  release(file);
}

TEST_F(ReadAheadRequests, OwnWritesOfOtherBytesDropNothing) {
  const Opened file = make(64);
  start(file);
  const std::size_t before = slots_used();
  ASSERT_EQ(write(file, 60 * kRequest, "w"), 0);
  ASSERT_EQ(fsync(file), 0);
  EXPECT_EQ(slots_used(), before);
  EXPECT_EQ(part(file, 2), expected(2));
  EXPECT_EQ(dropped(), 0U);
  release(file);
}

TEST_F(ReadAheadRequests, OwnWritesThroughAnotherOpenFileAreSeen) {
  const Opened file = make(64, O_RDONLY);
  const Opened writer = open_node(file.node, O_RDWR | O_DIRECT);
  start(file);
  const std::string written(std::size_t{100} << 10, 'w');
  ASSERT_EQ(write(writer, 2 * kRequest, written), 0);
  EXPECT_TRUE(part(file, 2) == written.substr(0, kRequest));
  release(file);
  release(writer);
}

TEST_F(ReadAheadRequests, AWriteWhileTheReadIsUnderWayIsSeen) {
  const Opened file = make(64);
  EXPECT_EQ(part(file, 0), expected(0));
  hold_reads();
  const auto second = begin_read(file, 1);
  reactor_.settle();
  ASSERT_GT(slots_used(), 0U) << "executed, but not answered";
  const std::string written(kRequest, 'w');
  ASSERT_EQ(write(file, 2 * kRequest, written), 0);
  ASSERT_EQ(fsync(file), 0);
  server_.fate = nullptr;
  const TimePoint asked = reactor_.now();
  EXPECT_TRUE(part(file, 2) == written);
  EXPECT_EQ(reactor_.now(), asked) << "it does not wait for the READ in flight";
  server_.disconnect();
  end(second);
  release(file);
}

TEST_F(ReadAheadRequests, ATruncatedFileEndsWhereItWasCut) {
  const Opened file = make(64);
  start(file);
  fuse_setattr_in in{};
  in.valid = FATTR_SIZE;
  in.size = 3 * kRequest;
  ASSERT_EQ(ask(FUSE_SETATTR, file.node, in).error, 0);
  EXPECT_EQ(slots_used(), 0U);
  EXPECT_EQ(part(file, 2), expected(2));
  EXPECT_EQ(part(file, 3), "");
  release(file);
}

TEST_F(ReadAheadRequests, AFileThatGrowsIsReadOn) {
  const Opened file = make(3);
  start(file);
  EXPECT_EQ(part(file, 2), expected(2));
  EXPECT_EQ(part(file, 3), "") << "it ends there";
  const std::string written(kRequest, 'w');
  ASSERT_EQ(write(file, 4 * kRequest, written), 0);
  EXPECT_TRUE(part(file, 3) == std::string(kRequest, '\0')) << "it does not end there any more";
  EXPECT_TRUE(part(file, 4) == written);
  release(file);
}

TEST_F(ReadAheadRequests, WhatIsReadAtTheEndIsForgottenWhenTheFileGrows) {
  const Opened file = make(4);
  start(file);
  EXPECT_EQ(part(file, 2), expected(2));
  ASSERT_GT(slots_used(), 0U) << "the last part waits, and says that the file ends";
  ASSERT_EQ(write(file, 40 * kRequest, "w"), 0);
  ASSERT_EQ(fsync(file), 0);
  EXPECT_EQ(slots_used(), 0U);
  EXPECT_EQ(part(file, 3), expected(3));
  EXPECT_TRUE(part(file, 4) == std::string(kRequest, '\0'));
  release(file);
}

// The READ has found the old end, and its answer comes behind that of the write.
TEST_F(ReadAheadRequests, AFileThatGrowsWhileItsEndIsReadIsReadOn) {
  const Opened file = make(4);
  EXPECT_EQ(part(file, 0), expected(0));
  hold_reads();
  const auto second = begin_read(file, 1);
  reactor_.settle();
  ASSERT_GT(slots_used(), 0U) << "executed, but not answered";
  ASSERT_EQ(write(file, 40 * kRequest, "w"), 0);
  ASSERT_EQ(fsync(file), 0);
  server_.fate = nullptr;
  server_.release_held();
  EXPECT_TRUE(end(second).text() == expected(1));
  EXPECT_TRUE(part(file, 3) == expected(3));
  EXPECT_TRUE(part(file, 4) == std::string(kRequest, '\0'));
  release(file);
}

// Read again, they are those of before the data that the server has lost.
TEST_F(ReadAheadRequests, BytesUnderWayAreForgottenWithTheServersMemory) {
  const Opened file = make(64);
  server_.service().set_never_stable(true);
  const std::string written(kRequest, 'w');
  ASSERT_EQ(write(file, 8 * kRequest, written), 0);
  reactor_.advance(2 * cache::WriteBehind::kLongest);
  reactor_.settle();
  EXPECT_EQ(part(file, 6), expected(6));
  hold_reads();
  const auto seventh = begin_read(file, 7);
  reactor_.settle();
  ASSERT_GT(slots_used(), 0U);
  const auto eighth = begin_read(file, 8);
  reactor_.settle();
  server_.write_file("f", text_);
  hold(nfs4::OP_COMMIT);
  server_.reboot(0);
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_FALSE(kernel_->answered(eighth)) << "the server has not got the data back";
  server_.fate = nullptr;
  server_.release_held();
  EXPECT_TRUE(end(eighth).text() == written);
  end(seventh);
  server_.service().set_never_stable(false);
  release(file);
}

TEST_F(ReadAheadRequests, AnotherClientsWriteIsSeenAtTheNextOpen) {
  const Opened file = make(64, O_RDONLY);
  start(file);
  change_elsewhere();
  EXPECT_NE(part(file, 2), expected(2)) << "as with pages that are cached";
  const Opened again = open_node(file.node, O_RDONLY);
  EXPECT_EQ(part(file, 3), expected(3));
  EXPECT_EQ(part(again, 4), expected(4));
  release(file);
  release(again);
}

TEST_F(ReadAheadRequests, AnotherClientsWriteIsSeenWithItsAttributes) {
  const Opened file = make(64, O_RDONLY);
  start(file);
  change_elsewhere();
  fs_->find_file(file.fh)->inode->attributes().expire();
  getattr(file.node);
  EXPECT_EQ(part(file, 2), expected(2));
  release(file);
}

TEST_F(ReadAheadRequests, AnotherClientsWriteIsSeenUnderALock) {
  const Opened file = make(64);
  start(file);
  change_elsewhere();
  const fuse_lk_in lock{file.fh, 11, {0, kLast, F_WRLCK, 1234}, 0, 0};
  ASSERT_EQ(ask(FUSE_SETLK, file.node, lock).error, 0);
  EXPECT_EQ(slots_used(), 0U);
  EXPECT_EQ(part(file, 2), expected(2));
  EXPECT_EQ(part(file, 3), expected(3));
  flush(file, 11);
  release(file);
}

TEST_F(ReadAheadRequests, DirectReadsAskTheServer) {
  const Opened file = make(64, O_RDONLY);
  const Opened direct = open_node(file.node, O_RDONLY | O_DIRECT);
  start(file);
  change_elsewhere();
  EXPECT_EQ(part(direct, 2), expected(2));
  const std::uint64_t ahead = fs_counter("cache_read_ahead_bytes");
  for (std::uint64_t i = 3; i < 10; ++i) EXPECT_EQ(part(direct, i), expected(i));
  EXPECT_EQ(fs_counter("cache_read_ahead_bytes"), ahead) << "nor is anything read ahead of them";
  release(file);
  release(direct);
}

TEST_F(ReadAheadRequests, AFailureIsToldOnlyToWhoAsks) {
  const Opened file = make(64);
  start(file);
  server_.fail(nfs4::OP_READ, nfs4::NFS4ERR_IO);
  for (std::uint64_t i = 2; i < 64; ++i) EXPECT_EQ(part(file, i), expected(i));
  EXPECT_EQ(server_.failures_left(nfs4::OP_READ), 0);
  EXPECT_EQ(fs_counter("cache_read_ahead_failures"), 1U);
  EXPECT_EQ(fs_counter("errors_read_NFS4ERR_IO"), 0U);
  release(file);
}

TEST_F(ReadAheadRequests, ALostConnectionLosesNothing) {
  const Opened file = make(64);
  EXPECT_EQ(part(file, 0), expected(0));
  hold_reads();
  const auto second = begin_read(file, 1);
  reactor_.settle();
  const auto third = begin_read(file, 2);
  reactor_.settle();
  EXPECT_FALSE(kernel_->answered(third));
  server_.fate = nullptr;
  server_.disconnect();
  EXPECT_EQ(end(second).text(), expected(1));
  EXPECT_EQ(end(third).text(), expected(2));
  for (std::uint64_t i = 3; i < 64; ++i) EXPECT_EQ(part(file, i), expected(i));
  release(file);
}

// soft: the caller is answered; what it waited for keeps its memory until the server answers.
TEST_F(ReadAheadRequests, ACallerThatIsLetGoLeavesTheReadBehind) {
  make_soft_kernel(ETIMEDOUT);
  const Opened file = make(64);
  EXPECT_EQ(part(file, 0), expected(0));
  hold_reads();
  const auto second = begin_read(file, 1);
  reactor_.settle();
  EXPECT_EQ(read(file, 2 * kRequest, kRequest).error, ETIMEDOUT);
  EXPECT_EQ(end(second).error, ETIMEDOUT);
  EXPECT_EQ(kernel_->in_flight().running(), 2U);
  server_.fate = nullptr;
  server_.disconnect();
  reactor_.advance(std::chrono::seconds(5));
  EXPECT_EQ(kernel_->in_flight().running(), 0U);
  release(file);
  EXPECT_EQ(slots_used(), 0U);
}

TEST_F(ReadAheadRequests, ItsMemoryIsBounded) {
  const Opened file = make(256);
  const std::size_t others = slots_->available();
  hold_reads();
  std::vector<std::uint64_t> asked;
  for (std::uint64_t i = 0; i < 6; ++i) {
    asked.push_back(begin_read(file, i));
    reactor_.settle();
    EXPECT_LE(slots_used(), kMostPieces);
  }
  EXPECT_GE(slots_->available(), others - kMostPieces);
  server_.fate = nullptr;
  server_.disconnect();
  for (const std::uint64_t one : asked) EXPECT_EQ(end(one).error, 0);
  release(file);
}

TEST_F(ReadAheadRequests, WhoNeedsASlotGetsItAtOnce) {
  const Opened file = make(256);
  start(file);
  std::vector<Buffer> taken;
  while (Buffer slot = slots_->acquire()) taken.push_back(std::move(slot));
  EXPECT_EQ(slots_used(), 0U);
  EXPECT_EQ(taken.size(), slots_->slots() - 1) << "all but the one for sending again";
  EXPECT_EQ(part(file, 2), expected(2));
  EXPECT_EQ(slots_used(), 0U) << "there is no memory for more";
  taken.clear();
  release(file);
}

TEST_F(ReadAheadRequests, OtherRequestsFindSessionSlots) {
  const Opened file = make(256);
  hold_reads();
  std::vector<std::uint64_t> asked;
  for (std::uint64_t i = 0; i < 3; ++i) asked.push_back(begin_read(file, i));
  reactor_.settle();
  EXPECT_EQ(ask(FUSE_GETATTR, kRoot, fuse_getattr_in{}).error, 0);
  EXPECT_NE(lookup("f").nodeid, 0U);
  server_.fate = nullptr;
  server_.disconnect();
  for (const std::uint64_t one : asked) EXPECT_EQ(end(one).error, 0);
  release(file);
}

TEST_F(ReadAheadRequests, TheCloseFollowsWhatIsUnderWay) {
  const Opened file = make(64);
  EXPECT_EQ(part(file, 0), expected(0));
  bool held = false;
  server_.fate = [&held](const Arrival& arrival) {
    const bool ahead = arrival.has(nfs4::OP_READ) && std::exchange(held, true);
    return ahead ? Fate::hold : Fate::answer;
  };
  EXPECT_EQ(part(file, 1), expected(1));
  ASSERT_GT(slots_used(), 0U);
  fuse_release_in in{};
  in.fh = file.fh;
  EXPECT_EQ(ask(FUSE_RELEASE, file.node, in).error, 0) << "which no program waits for";
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 0);
  server_.fate = nullptr;
  server_.disconnect();
  reactor_.advance(std::chrono::seconds(5));
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
  EXPECT_EQ(slots_used(), 0U);
}

class ReadAheadUnderDelegation : public ReadAheadRequests {
 protected:
  ReadAheadUnderDelegation() : ReadAheadRequests(responder::DelegationKind::write) {}
};

TEST_F(ReadAheadUnderDelegation, IsDroppedWhenThatIsRecalled) {
  const Opened file = make(64);
  start(file);
  const auto handle = fs_->find_file(file.fh)->inode->handle();
  ASSERT_TRUE(mount().delegations().held(handle));
  finish(mount().delegations().give_back(handle));
  EXPECT_EQ(slots_used(), 0U);
  change_elsewhere();
  EXPECT_EQ(part(file, 2), expected(2));
  release(file);
}

class NoReadAhead : public ReadAheadRequests {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig config = ReadAheadRequests::config();
    config.attributes.acregmin = config.attributes.acregmax = Duration::zero();
    return config;
  }
};

// Then the kernel drops pages by itself and does not say when.
TEST_F(NoReadAhead, WithoutAttributesThatAreBelieved) {
  const Opened file = make(64);
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(part(file, i), expected(i));
  EXPECT_EQ(reads(), 64);
  release(file);
}

TEST_F(ReadAheadRequests, ADirectReaderAsksTheServer) {
  const Opened file = make(64, O_RDONLY | O_DIRECT);
  for (std::uint64_t i = 0; i < 16; ++i) EXPECT_EQ(part(file, i), expected(i));
  EXPECT_EQ(reads(), 16);
  EXPECT_EQ(fs_counter("cache_read_ahead_bytes"), 0U);
  release(file);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
