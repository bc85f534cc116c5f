// DELEGRETURN and CLOSE in one request, and all that may come between. Two clients of the
// responder's NFSv4.1 service, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tests/client/delegations.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class ReturnWithClose : public Delegations {
 protected:
  /// A file that only its delegation keeps open at the server.
  Opened kept_open(const std::string& name = "file") {
    Opened opened = open_delegated(name, kRead);
    close_at(mount(), std::move(opened.open));
    server_.forget_arrivals();
    return opened;
  }
  Task<int> giving_back(FileHandle handle) {
    co_await mount().delegations().give_back(handle);
    co_return 0;
  }
  void give_back(const Opened& file) { run(giving_back(file.handle)); }
  std::size_t arrived(nfs_opnum4 opnum) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        server_.arrivals(), [opnum](const Arrival& arrival) { return arrival.has(opnum); }));
  }
  std::size_t arrived_together() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(server_.arrivals(), [](const Arrival& arrival) {
          return arrival.has(OP_DELEGRETURN) && arrival.has(OP_CLOSE);
        }));
  }
  /// Both have been done, each once, and nothing is left.
  void expect_gone() {
    reactor_.advance(std::chrono::seconds(10));
    EXPECT_EQ(server_.successes_of(OP_DELEGRETURN), 1);
    EXPECT_EQ(server_.successes_of(OP_CLOSE), 1);
    EXPECT_EQ(counter("delegations"), 0U);
    EXPECT_EQ(counter("delegations_returned"), 1U);
    EXPECT_EQ(counter("closes"), 1U);
    EXPECT_EQ(counter("open_files"), 0U);
  }
};

TEST_F(ReturnWithClose, IsOneRequest) {
  give_back(kept_open());
  EXPECT_EQ(requests(), 1U);
  EXPECT_EQ(arrived_together(), 1U);
  expect_gone();
}

TEST_F(ReturnWithClose, ARecallAsksForNoMore) {
  const Opened file = kept_open();
  auto writer = open_at_other("file", kWrite);
  ASSERT_TRUE(writer) << writer.error().message();
  EXPECT_EQ(arrived_together(), 1U);
  EXPECT_EQ(arrived(OP_CLOSE), 1U);
  EXPECT_EQ(arrived(OP_DELEGRETURN), 1U);
  expect_gone();
  close_at(other(), std::move(writer->open));
}

TEST_F(ReturnWithClose, AFileInUseStaysOpen) {
  Opened file = open_delegated("file", kRead);
  give_back(file);
  EXPECT_EQ(arrived(OP_DELEGRETURN), 1U);
  EXPECT_EQ(arrived(OP_CLOSE), 0U);
  auto text = read_text(file);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(file.open));
  expect_gone();
}

// The credential of a request is that of one user.
TEST_F(ReturnWithClose, AnotherUsersOpenIsClosedByItself) {
  std::filesystem::permissions(server_.path("file"), std::filesystem::perms(0666));
  Opened first = open_delegated("file", kRead);
  Credential stranger = caller();
  stranger.uid += 1000;
  auto second = run(open(mount(), stranger, first.handle, kRead));
  ASSERT_TRUE(second) << second.error().message();
  auto local = open_locally(mount(), stranger, first.handle, kRead);
  ASSERT_TRUE(local) << "by now that open uses the delegation, too";
  close_at(mount(), std::move(second->open));
  close_at(mount(), std::move(local->open));
  close_at(mount(), std::move(first.open));
  server_.forget_arrivals();
  give_back(first);
  reactor_.settle();
  EXPECT_EQ(arrived_together(), 1U);
  EXPECT_EQ(requests(), 2U);
  EXPECT_EQ(server_.arrivals().front().caller.uid, caller().uid);
  EXPECT_EQ(server_.arrivals().back().caller.uid, stranger.uid);
  EXPECT_EQ(counter("open_files"), 0U);
}

TEST_F(ReturnWithClose, WhatIsPutOffIsDoneApart) {
  const Opened file = kept_open();
  server_.fail(OP_DELEGRETURN, NFS4ERR_DELAY);
  give_back(file);
  expect_gone();
}

TEST_F(ReturnWithClose, AClosePutOffBehindItDoesNotRepeatTheReturn) {
  const Opened file = kept_open();
  server_.fail(OP_CLOSE, NFS4ERR_DELAY);
  give_back(file);
  EXPECT_EQ(arrived(OP_DELEGRETURN), 1U);
  expect_gone();
}

TEST_F(ReturnWithClose, ARevokedOneIsAcknowledgedAndTheFileClosed) {
  const Opened file = kept_open();
  server_.fail(OP_DELEGRETURN, NFS4ERR_DELEG_REVOKED, 2);
  give_back(file);
  reactor_.advance(std::chrono::seconds(10));
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(counter("delegations_freed"), 1U);
  EXPECT_EQ(server_.successes_of(OP_CLOSE), 1);
  EXPECT_EQ(counter("open_files"), 0U);
}

TEST_F(ReturnWithClose, ALostAnswerIsReplayed) {
  const Opened file = kept_open();
  bool lost = false;
  server_.fate = [&lost](const Arrival& arrival) {
    if (!arrival.has(OP_DELEGRETURN) || std::exchange(lost, true)) return Fate::answer;
    return Fate::disconnect_after;
  };
  give_back(file);
  EXPECT_TRUE(lost);
  expect_gone();
}

// Once more in a new session, where nothing remembers that it was done.
TEST_F(ReturnWithClose, AnAnswerThatIsLostWithTheServerEndsIt) {
  const Opened file = kept_open();
  bool lost = false;
  server_.fate = [&lost](const Arrival& arrival) {
    if (!arrival.has(OP_DELEGRETURN) || std::exchange(lost, true)) return Fate::answer;
    return Fate::hold;
  };
  Pending<int> returning(giving_back(file.handle));
  reactor_.settle();
  server_.reboot(/*grace_seconds=*/0);
  finish(returning);
  reactor_.advance(std::chrono::seconds(10));
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(counter("open_files"), 0U);
  Opened again = open_file("file", kRead);
  auto text = read_text(again);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(again.open));
}

// Some servers let a CLOSE end the open of an OPEN that overtakes it.
TEST_F(ReturnWithClose, AnOpenOfTheFileGoesAfterIt) {
  const Opened file = kept_open();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CLOSE) ? Fate::hold : Fate::answer;
  };
  Pending<int> returning(giving_back(file.handle));
  reactor_.settle();
  Pending<Result<Opened>> opening(open(mount(), caller(), file.handle, kRead));
  reactor_.settle();
  EXPECT_EQ(arrived(OP_OPEN), 0U);
  server_.fate = nullptr;
  server_.release_held();
  finish(returning);
  auto opened = finish(opening);
  ASSERT_TRUE(opened) << opened.error().message();
  auto text = read_text(*opened);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(opened->open));
}

// An OPEN by name tells its file only with the answer. The CLOSE is too old then.
TEST_F(ReturnWithClose, AnOpenByNameThatTheServerDidBeforeStaysOpen) {
  const Opened file = kept_open();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Opened>> opening(open_by_name(mount(), caller(), root(), "file", kRead));
  reactor_.settle();
  Pending<int> returning(giving_back(file.handle));
  reactor_.settle();
  EXPECT_EQ(arrived_together(), 1U);
  EXPECT_EQ(server_.successes_of(OP_CLOSE), 0);
  server_.fate = nullptr;
  server_.release_held();
  auto opened = finish(opening);
  ASSERT_TRUE(opened) << opened.error().message();
  finish(returning);
  EXPECT_EQ(server_.successes_of(OP_DELEGRETURN), 1);
  auto text = read_text(*opened);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(opened->open));
  reactor_.settle();
  EXPECT_EQ(counter("open_files"), 0U);
}

// Nothing may wait for the OPEN: a server may put it off until the delegation is back.
TEST_F(ReturnWithClose, ItDoesNotWaitForAnOpenUnderWay) {
  const Opened file = kept_open();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Opened>> opening(open(mount(), caller(), file.handle, kBoth));
  reactor_.settle();
  Pending<int> returning(giving_back(file.handle));
  reactor_.settle();
  EXPECT_EQ(server_.successes_of(OP_DELEGRETURN), 1);
  EXPECT_EQ(arrived(OP_CLOSE), 0U);
  server_.fate = nullptr;
  server_.release_held();
  auto opened = finish(opening);
  ASSERT_TRUE(opened) << opened.error().message();
  finish(returning);
  auto text = read_text(*opened);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(opened->open));
}

TEST_F(ReturnWithClose, AtTheEndOfTheMountEachIsOneRequest) {
  for (const char* name : {"a", "b", "c"}) {
    server_.write_file(name, name);
    kept_open(name);
  }
  auto stopped = run(mount().stop());
  EXPECT_TRUE(stopped) << stopped.error().message();
  EXPECT_EQ(arrived_together(), 3U);
  EXPECT_EQ(arrived(OP_CLOSE), 3U);
  EXPECT_EQ(arrived(OP_DELEGRETURN), 3U);
}

// What the server does not take over would go on with a stateid of zeros, the anonymous one
// (RFC 8881 section 8.2.3), and so without being open.
TEST_F(Delegations, AnOpenWhoseClaimIsRefusedIsOpenedAnew) {
  Opened first = open_delegated("file", kBoth);
  auto local = open_here(first, kRead);
  ASSERT_TRUE(local);
  server_.fail(OP_OPEN, NFS4ERR_SERVERFAULT);
  server_.service().recall_delegations();
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(counter("open_claims"), 0U);
  EXPECT_EQ(counter("opens_reopened"), 1U);
  EXPECT_EQ(counter("opens_lost"), 0U);
  close_at(mount(), std::move(local->open));
  close_at(mount(), std::move(first.open));
}

}  // namespace
}  // namespace nfsrdma::client::test
