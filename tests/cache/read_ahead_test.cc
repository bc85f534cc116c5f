// Reading ahead beside what makes it out of date: drops, locks, failures, a close.
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cache/lock/file_locks.h"
#include "cache/read/read.h"
#include "client/requests/errno.h"
#include "tests/cache/served_files.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::cache::test {
namespace {

using client::test::Arrival;
using client::test::Fate;
using client::test::Pending;

class ReadAheadTest : public ServedFiles {
 protected:
  static constexpr std::size_t kRequest = std::size_t{16} << 10;
  static constexpr client::LockOwner kOwner{client::LockKind::posix, 1};
  using Reading = Pending<Result<BytesRead>>;

  explicit ReadAheadTest(bool mandatory_locks = false)
      : ServedFiles(responder::DelegationKind{}, mandatory_locks) {}
  DataLimits limits() const override { return {.read_ahead = std::size_t{4} << 20}; }

  FileRef make() {
    text_.clear();
    while (text_.size() < 64 * kRequest) text_ += "byte " + std::to_string(text_.size()) + ' ';
    server_.write_file("f", text_);
    return open("f");
  }
  Reading begin_read(const FileRef& file, std::uint64_t offset, std::size_t size = kRequest,
                     bool through_pages = true) {
    ReadArgs wanted;
    wanted.by.pid = ::getpid();
    wanted.offset = offset;
    wanted.size = size;
    wanted.slot = slots_->acquire();
    wanted.through_pages = through_pages;
    return Reading(read(files().reads(), files().writes(), file, std::move(wanted)));
  }
  std::string end(Reading reading) {
    const Result<BytesRead> read = finish(reading);
    EXPECT_TRUE(read) << read.error().message();
    if (!read) return "error";
    return {reinterpret_cast<const char*>(read->data.data()), read->data.size()};
  }
  std::string part(const FileRef& file, std::uint64_t nth) {
    return end(begin_read(file, nth * kRequest));
  }
  std::string expected(std::uint64_t offset, std::size_t size = kRequest) const {
    return text_.substr(offset, size);
  }
  /// Reads on until something is read ahead.
  void start(const FileRef& file) {
    EXPECT_EQ(part(file, 0), expected(0));
    EXPECT_EQ(part(file, 1), expected(kRequest));
    reactor_.settle();
    EXPECT_GT(slots_used(), 0U) << "nothing was read ahead";
  }
  /// The same; the server has executed what is read ahead but for `answered` READs, and holds the
  /// answers.
  void start_with_held(const FileRef& file, int answered = 0) {
    constexpr int kOwn = 2;
    server_.fate = [reads = 0, answered](const Arrival& arrival) mutable {
      const bool read = arrival.has(nfs4::OP_READ);
      return read && ++reads > kOwn + answered ? Fate::hold : Fate::answer;
    };
    start(file);
    server_.fate = nullptr;
  }
  /// Calls it when what is posted now has run, and so on.
  void after_turns(int turns, const std::function<void()>& call) {
    if (turns == 0) return call();
    reactor_.post([=, this] { after_turns(turns - 1, call); });
  }
  /// What another client writes there instead.
  void change_elsewhere() {
    text_ = std::string(text_.size(), '#');
    server_.write_file("f", text_);
  }
  int lock_whole(const FileRef& file) {
    client::WantedLock wanted;
    wanted.owner = kOwner;
    wanted.pid = ::getpid();
    wanted.exclusive = true;
    LockCaller who;
    auto locked = run(lock(files().writes(), file, wanted, who));
    return locked ? 0 : client::to_errno(locked.error());
  }
  std::uint64_t slots_used() const { return files_counter("cache_read_ahead_slots"); }

  std::string text_;
};

TEST_F(ReadAheadTest, WhoWaitsForWhatIsDroppedAsksAgain) {
  FileRef file = make();
  start_with_held(file);
  Reading waiting = begin_read(file, 2 * kRequest);
  reactor_.settle();
  EXPECT_FALSE(waiting.done());
  change_elsewhere();
  file->shared->drop_read_ahead();
  reactor_.settle();
  ASSERT_TRUE(waiting.done()) << "it does not wait for the READ in flight";
  EXPECT_TRUE(end(waiting) == expected(2 * kRequest));
  let_go();
}

// At each step from the arrival of the answer to the moment when the waiter runs again.
TEST_F(ReadAheadTest, WhatIsDroppedWhenItArrivesIsNotUsed) {
  constexpr int kBefore = -1;
  bool in_time = true;
  for (int turns = kBefore; in_time; ++turns) {
    ASSERT_LT(turns, 100);
    FileRef file = make();
    start_with_held(file);
    Reading waiting = begin_read(file, 2 * kRequest);
    reactor_.settle();
    change_elsewhere();
    const auto drop = [&] {
      in_time = !waiting.done();
      file->shared->drop_read_ahead();
    };
    if (turns == kBefore) drop();
    server_.release_held();
    if (turns != kBefore) after_turns(turns, drop);
    const std::string text = end(waiting);
    reactor_.settle();
    EXPECT_TRUE(!in_time || text == expected(2 * kRequest)) << turns;
    close(file);
  }
}

TEST_F(ReadAheadTest, WhatIsPutTogetherIsOfOneTime) {
  FileRef file = make();
  start_with_held(file, /*answered=*/1);
  const ReadPiece* first = file->ahead->find(2 * kRequest);
  ASSERT_TRUE(first && first->state == ReadPiece::State::ready);
  const std::uint64_t between = first->end() - kRequest / 2;
  Reading waiting = begin_read(file, between);
  reactor_.settle();
  ASSERT_FALSE(waiting.done()) << "the second half is not there";
  change_elsewhere();
  file->shared->drop_read_ahead(between, between + 1);
  server_.release_held();
  EXPECT_TRUE(end(waiting) == expected(between));
}

TEST_F(ReadAheadTest, WhatCameShortIsNotPutTogetherWithWhatFollows) {
  FileRef file = make();
  EXPECT_EQ(part(file, 0), expected(0));
  server_.service().set_most_read(kRequest + 100);
  EXPECT_EQ(part(file, 1), expected(kRequest));
  reactor_.settle();
  EXPECT_GT(slots_used(), 0U);
  // From within a piece of which some is left, into what it lacks.
  for (std::uint64_t i = 3; i < 64; ++i) EXPECT_TRUE(part(file, i) == expected(i * kRequest)) << i;
}

TEST_F(ReadAheadTest, WhatFailsTakesNoMemory) {
  FileRef file = make();
  EXPECT_EQ(part(file, 0), expected(0));
  server_.after = [this](const Arrival& arrival) {
    if (arrival.has(nfs4::OP_READ)) server_.fail(nfs4::OP_READ, nfs4::NFS4ERR_IO, 100);
  };
  EXPECT_EQ(part(file, 1), expected(kRequest));
  server_.after = nullptr;
  reactor_.settle();
  EXPECT_GT(files_counter("cache_read_ahead_failures"), 0U);
  EXPECT_EQ(slots_used(), 0U);
  server_.fail(nfs4::OP_READ, nfs4::NFS4_OK, 0);
  EXPECT_EQ(part(file, 2), expected(2 * kRequest));
}

TEST_F(ReadAheadTest, AFileThatIsBeingClosedGivesTheMemoryBack) {
  FileRef file = make();
  start(file);
  hold(nfs4::OP_CLOSE);
  Pending<bool> closing(ended(begin_close(std::move(file))));
  reactor_.settle();
  EXPECT_FALSE(closing.done());
  EXPECT_EQ(slots_used(), 0U);
  let_go();
  EXPECT_TRUE(finish(closing));
}

// The kernel would not believe a page of that age either.
TEST_F(ReadAheadTest, WhatASlowReaderComesToLateIsReadAnew) {
  FileRef file = make();
  start(file);
  const Duration step = AttributePolicy{}.shortest(false) * 6 / 10;
  ASSERT_LT(step, ReadAhead::kIdle) << "an idle reader loses all that was read ahead";
  ASSERT_NE(file->ahead->find(3 * kRequest), nullptr);
  change_elsewhere();
  reactor_.advance(step);
  (void)part(file, 2);
  reactor_.advance(step);
  EXPECT_TRUE(part(file, 3) == expected(3 * kRequest));
}

TEST_F(ReadAheadTest, AReadWaitsForAWriteOfItsBytes) {
  FileRef file = make();
  const auto writing = [this, file]() -> Task<bool> {
    WriteOrder::Turn turn(file->shared->order, WriteOrder::Kind::direct, 0, kRequest);
    co_await turn;
    co_await Sleep(reactor_, std::chrono::seconds(1));
    co_return true;
  };
  Pending<bool> write(writing());
  Reading waiting = begin_read(file, kRequest - 1, kRequest, /*through_pages=*/false);
  reactor_.settle();
  EXPECT_FALSE(waiting.done());
  EXPECT_TRUE(finish(write));
  EXPECT_TRUE(end(waiting) == expected(kRequest - 1));
}

TEST_F(ReadAheadTest, OthersFindSlotsOfTheSession) {
  FileRef file = make();
  EXPECT_EQ(part(file, 0), expected(0));
  hold(nfs4::OP_READ);
  std::vector<Reading> held;
  for (std::uint64_t i = 0; i < 5; ++i) {
    held.push_back(begin_read(file, i * kRequest, kRequest, /*through_pages=*/false));
  }
  held.push_back(begin_read(file, kRequest));
  reactor_.settle();
  Pending<Result<AttributeCache::Outcome>> asked(files().attributes().revalidate(root_, caller()));
  reactor_.settle();
  EXPECT_TRUE(asked.done()) << "READs that no program waits for have all slots";
  let_go();
  for (Reading& one : held) EXPECT_TRUE(finish(one));
}

TEST_F(ReadAheadTest, WhoseLockIsGoneReadsNothingOfIt) {
  FileRef file = make();
  ASSERT_EQ(lock_whole(file), 0);
  start(file);
  server_.fail(nfs4::OP_LOCK, nfs4::NFS4ERR_RECLAIM_CONFLICT, 100);
  server_.reboot(10);
  ASSERT_TRUE(run(files().attributes().revalidate(root_, caller())));
  ASSERT_GT(slots_used(), 0U);
  Reading reading = begin_read(file, 2 * kRequest);
  const Result<BytesRead> read = finish(reading);
  ASSERT_FALSE(read);
  EXPECT_EQ(client::to_errno(read.error()), EIO);
}

TEST_F(ReadAheadTest, ALockDropsItEvenIfNothingCanBeAsked) {
  FileRef file = make();
  start(file);
  ASSERT_EQ(lock_whole(file), 0);
  server_.fail(nfs4::OP_GETATTR, nfs4::NFS4ERR_IO);
  EXPECT_FALSE(run(see_changes(files().writes(), file)));
  EXPECT_EQ(slots_used(), 0U);
}

class ReadAheadOfLockedBytes : public ReadAheadTest {
 protected:
  ReadAheadOfLockedBytes() : ReadAheadTest(/*mandatory_locks=*/true) {}
};

TEST_F(ReadAheadOfLockedBytes, GoesOnInTheNameOfTheLock) {
  FileRef file = make();
  start(file);
  ASSERT_EQ(lock_whole(file), 0);
  for (std::uint64_t i = 2; i < 64; ++i) EXPECT_TRUE(part(file, i) == expected(i * kRequest)) << i;
  EXPECT_EQ(files_counter("cache_read_ahead_failures"), 0U);
  EXPECT_LT(server_.successes_of(nfs4::OP_READ), 32) << "what is read ahead is used";
}

}  // namespace
}  // namespace nfsrdma::cache::test
