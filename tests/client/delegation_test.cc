// Delegations: asked for, used without a request, recalled, returned, lost and got back. Two
// clients of the responder's NFSv4.1 service, in virtual time.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/files/lock.h"
#include "client/files/open_files.h"
#include "client/files/setattr.h"
#include "client/requests/getattr.h"
#include "client/requests/lookup.h"
#include "client/requests/read.h"
#include "client/requests/remove.h"
#include "client/requests/rename.h"
#include "client/requests/write.h"
#include "client/session/session.h"
#include "tests/client/delegations.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

TEST_F(Delegations, OpensAndClosesOfADelegatedFileSendNothing) {
  Opened first = open_delegated("file", kRead);
  const std::size_t before = requests();
  for (int i = 0; i < 3; ++i) {
    auto again = open_here(first, kRead);
    ASSERT_TRUE(again);
    close_at(mount(), std::move(again->open));
  }
  close_at(mount(), std::move(first.open));
  auto after_close = open_here(first, kRead);
  ASSERT_TRUE(after_close);
  EXPECT_EQ(requests(), before);
  EXPECT_EQ(counter("delegation_opens"), 4U);
  EXPECT_EQ(counter("delegations"), 1U);
  close_at(mount(), std::move(after_close->open));
}

TEST_F(Delegations, ReadsNameTheDelegation) {
  const Opened first = open_delegated("file", kRead);
  const DelegationRef delegation = mount().delegations().held(first.handle);
  EXPECT_EQ(first.open->stateid(), delegation->stateid());
  auto text = read_text(first);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, kContent);
}

TEST_F(Delegations, WhatADelegationDoesNotCoverGoesToTheServer) {
  const Opened first = open_delegated("file", kRead);
  EXPECT_FALSE(open_here(first, kWrite)) << "a read delegation";
  Credential stranger = caller();
  stranger.gid += 1;
  EXPECT_FALSE(open_locally(mount(), stranger, first.handle, kRead))
      << "the server has not authorized this user";
}

// Supplementary groups give access, so that an OPEN of a caller proves nothing for one with other
// groups.
TEST_F(Delegations, CallersWithOtherGroupsAreStrangers) {
  Credential member = caller();
  member.groups[0] = 7;
  member.group_count = 1;
  auto first = run(open_by_name(mount(), member, root(), "file", kRead));
  ASSERT_TRUE(first) << first.error().message();
  ASSERT_TRUE(mount().delegations().held(first->handle));
  EXPECT_TRUE(open_locally(mount(), member, first->handle, kRead));
  Credential stranger = member;
  stranger.groups[0] = 8;
  EXPECT_FALSE(open_locally(mount(), stranger, first->handle, kRead)) << "another group";
  stranger.groups[1] = 7;
  stranger.group_count = 2;
  EXPECT_FALSE(open_locally(mount(), stranger, first->handle, kRead)) << "one group more";
  stranger.group_count = 0;
  EXPECT_FALSE(open_locally(mount(), stranger, first->handle, kRead)) << "none";
  close_at(mount(), std::move(first->open));
}

TEST_F(Delegations, ARecallIsFollowedByReturnAndTheOpenGoesOn) {
  Opened first = open_delegated("file", kRead);
  close_at(mount(), std::move(first.open));
  auto local = open_here(first, kRead);
  ASSERT_TRUE(local);
  auto writer = open_at_other("file", kWrite);
  ASSERT_TRUE(writer) << writer.error().message();
  EXPECT_EQ(counter("delegations_recalled"), 1U);
  EXPECT_EQ(counter("delegations_returned"), 1U);
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_FALSE(mount().delegations().held(first.handle));
  first.open = std::move(local->open);
  auto text = read_text(first);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(first.open));
  close_at(other(), std::move(writer->open));
  EXPECT_EQ(counter("open_files"), 0U);
}

// RFC 8881 section 10.2.1: opens that the server has not seen are claimed before DELEGRETURN.
TEST_F(Delegations, LocalOpensAreClaimedBeforeTheReturn) {
  Opened first = open_delegated("file", kBoth);
  auto reader = open_here(first, kRead);
  ASSERT_TRUE(reader);
  auto elsewhere = open_at_other("file", kRead);
  ASSERT_TRUE(elsewhere) << elsewhere.error().message();
  EXPECT_EQ(counter("open_claims"), 1U);
  // The open for both goes: what is left can be brought down to reading alone.
  close_at(mount(), std::move(first.open));
  EXPECT_EQ(counter("open_downgrades"), 1U);
  first.open = std::move(reader->open);
  auto text = read_text(first);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(first.open));
  close_at(other(), std::move(elsewhere->open));
}

/// What a file system above has that the server has not.
class DirtyData final : public DelegationUser {
 public:
  Task<void> flush(FileHandle file) override {
    flushed.push_back(file);
    co_await when_flushed();
  }
  void on_all_forgotten() override {}
  void on_delegation_ended(const FileHandle& file) override { ended.push_back(file); }
  std::optional<LocalAttributes> local_attributes(const FileHandle&) override { return local; }

  std::function<Task<void>()> when_flushed = [] { return nothing(); };
  std::vector<FileHandle> flushed;
  std::vector<FileHandle> ended;
  std::optional<LocalAttributes> local;

 private:
  static Task<void> nothing() { co_return; }
};

class WithDirtyData : public Delegations {
 protected:
  void SetUp() override {
    Delegations::SetUp();
    mount().delegations().attach(&dirty_);
  }
  void TearDown() override {
    mount().delegations().attach(nullptr);
    Delegations::TearDown();
  }
  Task<void> write_late() {
    Buffer data = data_->acquire();
    data.data()[0] = std::byte{'X'};
    auto written = co_await write(mount(), caller(), opened_->handle, opened_->open.state(), 0,
                                  data.first(1), FILE_SYNC4);
    EXPECT_TRUE(written) << written.error().message();
  }

  DirtyData dirty_;
  std::optional<Opened> opened_;
};

TEST_F(WithDirtyData, WhatWasWrittenIsAtTheServerBeforeAnybodyElseGetsTheFile) {
  opened_ = open_delegated("file", kBoth);
  dirty_.when_flushed = [this] { return write_late(); };
  auto reader = open_at_other("file", kRead);
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_EQ(server_.read_file("file"), "Xontent of the file");
  EXPECT_EQ(dirty_.flushed.size(), 1U);
  EXPECT_EQ(dirty_.ended.size(), 1U);
  close_at(mount(), std::move(opened_->open));
  close_at(other(), std::move(reader->open));
}

// RFC 8881 section 10.4.3
TEST_F(WithDirtyData, AttributesAreThoseOfTheHolder) {
  opened_ = open_delegated("file", kWrite);
  dirty_.local = DelegationUser::LocalAttributes{12345, opened_->attributes.change, true};
  auto attributes = run(getattr(other(), caller(), opened_->handle));
  ASSERT_TRUE(attributes) << attributes.error().message();
  EXPECT_EQ(attributes->size, 12345U);
  EXPECT_EQ(counter("delegations"), 1U);
  // A version of its own: the one that comes when the data are written is another one.
  EXPECT_GT(attributes->change, opened_->attributes.change);
  ASSERT_TRUE(write_text(*opened_, 0, "C"));
  dirty_.local.reset();
  auto later = run(getattr(mount(), caller(), opened_->handle));
  ASSERT_TRUE(later) << later.error().message();
  EXPECT_GT(later->change, attributes->change);
  close_at(mount(), std::move(opened_->open));
}

TEST_F(Delegations, AWriteDelegationCoversEveryOpen) {
  Opened first = open_delegated("file", kWrite);
  EXPECT_TRUE(mount().delegations().held(first.handle)->writes());
  auto written = write_text(first, 0, "C");
  ASSERT_TRUE(written) << written.error().message();
  const std::size_t before = requests();
  EXPECT_FALSE(open_here(first, kBoth)) << "not authorized for reading";
  auto again = open_here(first, kWrite);
  ASSERT_TRUE(again);
  EXPECT_EQ(requests(), before);
  close_at(mount(), std::move(again->open));
  close_at(mount(), std::move(first.open));
  EXPECT_EQ(requests(), before);
  EXPECT_EQ(server_.read_file("file"), "Content of the file");
}

// RFC 8881 section 10.4.2
TEST_F(Delegations, AChangeUnderAReadDelegationReturnsItFirst) {
  Opened first = open_delegated("file", kRead);
  SetAttributes change;
  change.mode = 0600;
  auto changed = run(setattr(mount(), caller(), first.handle, {}, change));
  ASSERT_TRUE(changed) << changed.error().message();
  EXPECT_EQ(counter("delegations_returned"), 1U);
  EXPECT_EQ(counter("delegations"), 0U);
  close_at(mount(), std::move(first.open));
}

TEST_F(Delegations, UnderAWriteDelegationTheSizeIsChangedInItsName) {
  Opened first = open_delegated("file", kWrite);
  close_at(mount(), std::move(first.open));
  SetAttributes change;
  change.size = 7;
  auto changed = run(setattr(mount(), caller(), first.handle, {}, change));
  ASSERT_TRUE(changed) << changed.error().message();
  EXPECT_EQ(server_.read_file("file"), "content");
  EXPECT_EQ(counter("delegations"), 1U);
}

TEST_F(Delegations, AnotherClientsChangesOfNamesWaitForTheReturn) {
  for (const char* name : {"a", "b", "c"}) server_.write_file(name, name);
  for (const char* name : {"a", "b", "c"}) {
    close_at(mount(), open_delegated(name, kRead).open);
  }
  EXPECT_TRUE(run(remove(other(), caller(), other().root(), "a")));
  EXPECT_EQ(counter("delegations_returned"), 1U);
  EXPECT_TRUE(run(rename(other(), caller(), other().root(), "b", other().root(), "c")));
  EXPECT_EQ(counter("delegations_returned"), 3U);
  EXPECT_EQ(server_.read_file("c"), "b");
}

// RFC 8881 section 20.2.3: the reply that brings the delegation may come behind its recall.
TEST_F(Delegations, ARecallThatOvertakesTheGrantIsRepeated) {
  responder::OperationFault late;
  late.opnum = OP_OPEN;
  late.delay = std::chrono::seconds(2);
  server_.service().inject(late);
  Pending<Result<Opened>> opening(open_by_name(mount(), caller(), root(), "file", kRead));
  reactor_.settle();
  EXPECT_EQ(server_.service().recall_delegations(), 1U);
  auto opened = finish(opening);
  ASSERT_TRUE(opened) << opened.error().message();
  reactor_.advance(std::chrono::seconds(3));
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(counter("delegations_returned"), 1U);
  close_at(mount(), std::move(opened->open));
}

TEST_F(Delegations, RecallAnyReturnsTheLeastRecentlyUsedFirst) {
  std::vector<Opened> files;
  for (const char* name : {"a", "b", "c", "d"}) {
    server_.write_file(name, name);
    files.push_back(open_delegated(name, kRead));
    close_at(mount(), std::move(files.back().open));
  }
  auto used = open_here(files[0], kRead);  // now the last one
  ASSERT_TRUE(used);
  server_.service().recall_any_delegations(2);
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_EQ(counter("delegations"), 2U);
  EXPECT_TRUE(mount().delegations().held(files[0].handle));
  EXPECT_FALSE(mount().delegations().held(files[1].handle));
  EXPECT_FALSE(mount().delegations().held(files[2].handle));
  EXPECT_TRUE(mount().delegations().held(files[3].handle));
  close_at(mount(), std::move(used->open));
}

TEST_F(Delegations, AboveTheWatermarkUnusedOnesAreReturned) {
  constexpr std::size_t kMore = 20;
  for (std::size_t i = 0; i < client::Delegations::kWatermark + kMore; ++i) {
    const std::string name = "f" + std::to_string(i);
    server_.write_file(name, "x");
    Opened opened = open_file(name, kRead);
    close_at(mount(), std::move(opened.open));
  }
  reactor_.settle();
  EXPECT_EQ(counter("delegations"), client::Delegations::kWatermark);
  EXPECT_EQ(counter("delegations_returned"), kMore);
  EXPECT_EQ(counter("open_files"), client::Delegations::kWatermark);
}

class ManyDelegations : public Delegations {
 protected:
  /// The server needs two descriptors for an open file. Fewer where that is not allowed.
  static std::size_t as_many_as_possible() {
    constexpr rlim_t kMany = 10000;
    constexpr rlim_t kOthers = 500;
    rlimit limit{2 * kMany + kOthers, 2 * kMany + kOthers};
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
    (void)::getrlimit(RLIMIT_NOFILE, &limit);
    return std::min(kMany, (limit.rlim_cur - kOthers) / 2);
  }
  const std::size_t many_ = as_many_as_possible();

  void open_many() {
    for (std::size_t i = 0; i < many_; ++i) {
      const std::string name = "f" + std::to_string(i);
      server_.write_file(name, "x");
      files_.push_back(open_file(name, kRead));
    }
    ASSERT_EQ(counter("delegations"), many_);
  }
  std::size_t arrived(nfs_opnum4 opnum) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        server_.arrivals(), [opnum](const Arrival& arrival) { return arrival.has(opnum); }));
  }

  std::vector<Opened> files_;
};

// Every recall is answered although nothing is returned yet; returns take half of the slots at
// most, and a request of a program is answered at once.
TEST_F(ManyDelegations, ARecallOfAllStallsNobody) {
  open_many();
  responder::OperationFault slow;
  slow.opnum = OP_DELEGRETURN;
  slow.times = many_;
  slow.delay = std::chrono::seconds(1);
  server_.service().inject(slow);
  const TimePoint begun = reactor_.now();
  const int callbacks = server_.callbacks();
  EXPECT_EQ(server_.service().recall_delegations(), many_);
  reactor_.settle();
  EXPECT_EQ(server_.callbacks() - callbacks, static_cast<int>(many_));
  EXPECT_LE(arrived(OP_DELEGRETURN), kSlots / 2);
  EXPECT_GT(arrived(OP_DELEGRETURN), 0U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(run(getattr(mount(), caller(), files_[0].handle)));
  }
  EXPECT_EQ(reactor_.now(), begun) << "a request had to wait";
  server_.service().clear_faults();
  reactor_.advance(std::chrono::seconds(2));
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(counter("delegations_returned"), many_);
  EXPECT_TRUE(read_text(files_[many_ - 1]));
  files_.clear();
  reactor_.settle();
  EXPECT_EQ(counter("open_files"), 0U);
}

// RFC 8881 section 8.4.2.1: reclaimed with the open, and good for further opens.
TEST_F(Delegations, AReclaimedOpenBringsItsDelegationBack) {
  Opened first = open_delegated("file", kRead);
  server_.reboot(/*grace_seconds=*/60);
  auto text = read_text(first);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(counter("delegations_reclaimed"), 1U);
  EXPECT_EQ(counter("opens_reclaimed"), 1U);
  EXPECT_TRUE(mount().delegations().held(first.handle));
  auto again = open_here(first, kRead);
  ASSERT_TRUE(again);
  close_at(mount(), std::move(again->open));
  close_at(mount(), std::move(first.open));
}

TEST_F(Delegations, OpensThatOnlyTheDelegationCoveredAreReclaimedToo) {
  Opened first = open_delegated("file", kWrite);
  close_at(mount(), std::move(first.open));
  auto local = open_here(first, kWrite);
  ASSERT_TRUE(local);
  first.open = std::move(local->open);
  server_.reboot(/*grace_seconds=*/60);
  auto written = write_text(first, 0, "C");
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(counter("delegations_reclaimed"), 1U);
  EXPECT_TRUE(mount().delegations().held(first.handle)->writes());
  close_at(mount(), std::move(first.open));
}

TEST_F(Delegations, UnusedDelegationsAreForgottenWithTheServer) {
  Opened first = open_delegated("file", kRead);
  close_at(mount(), std::move(first.open));
  server_.reboot(/*grace_seconds=*/60);
  EXPECT_TRUE(run(getattr(mount(), caller(), root())));
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(counter("open_files"), 0U);
  EXPECT_FALSE(open_here(first, kRead));
}

// A server without grace gives no delegation back: opens go on without it.
TEST_F(Delegations, WithoutGraceTheOpensGoOnWithoutDelegation) {
  Opened first = open_delegated("file", kBoth);
  auto local = open_here(first, kRead);
  ASSERT_TRUE(local);
  server_.reboot(/*grace_seconds=*/0);
  auto written = write_text(first, 0, "C");
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(counter("opens_lost"), 0U);
  EXPECT_FALSE(mount().delegations().held(first.handle));
  Opened second{first.handle, {}, std::move(local->open)};
  auto text = read_text(second);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, "Content of the file");
  close_at(mount(), std::move(second.open));
  close_at(mount(), std::move(first.open));
}

TEST_F(Delegations, ARecallDuringARecoveryIsAnsweredAndDone) {
  Opened first = open_delegated("file", kRead);
  auto local = open_here(first, kRead);
  ASSERT_TRUE(local);
  // The return is in flight when the server restarts, and again when it has come back.
  responder::OperationFault late;
  late.opnum = OP_DELEGRETURN;
  late.delay = std::chrono::seconds(30);
  server_.service().inject(late);
  server_.service().recall_delegations();
  reactor_.settle();
  server_.reboot(/*grace_seconds=*/60);
  auto text = read_text(first);
  ASSERT_TRUE(text) << text.error().message();
  server_.service().recall_delegations();
  reactor_.advance(std::chrono::seconds(120));
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(counter("opens_lost"), 0U);
  auto again = read_text(first);
  EXPECT_TRUE(again) << again.error().message();
  close_at(mount(), std::move(local->open));
  close_at(mount(), std::move(first.open));
  EXPECT_EQ(counter("open_files"), 0U);
}

TEST_F(Delegations, ARecallWhileTheConnectionIsLostIsDoneLater) {
  Opened first = open_delegated("file", kRead);
  server_.unreachable = true;
  server_.disconnect();
  server_.service().recall_delegations();
  reactor_.advance(std::chrono::seconds(5));
  server_.unreachable = false;
  auto writer = open_at_other("file", kWrite);
  ASSERT_TRUE(writer) << writer.error().message();
  EXPECT_EQ(counter("delegations_returned"), 1U);
  close_at(mount(), std::move(first.open));
  close_at(other(), std::move(writer->open));
}

// RFC 8881 section 10.2.1: what is not returned in time is revoked; TEST_STATEID finds it,
// FREE_STATEID acknowledges it, and the open goes on by an ordinary one.
TEST_F(Delegations, ARevokedDelegationCostsNoOpen) {
  Opened first = open_delegated("file", kRead);
  close_at(mount(), std::move(first.open));
  auto local = open_here(first, kRead);
  ASSERT_TRUE(local);
  first.open = std::move(local->open);
  server_.hold_callbacks = true;
  auto writer = open_at_other("file", kWrite);
  ASSERT_TRUE(writer) << writer.error().message();
  reactor_.advance(kLease);
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(counter("delegations_freed"), 1U);
  EXPECT_EQ(counter("opens_lost"), 0U);
  auto text = read_text(first);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(first.open));
  close_at(other(), std::move(writer->open));
}

// The first to notice is a READ that names it.
TEST_F(Delegations, AUseFindsTheRevokedDelegationFirst) {
  Opened first = open_delegated("file", kRead);
  server_.fail(OP_READ, NFS4ERR_DELEG_REVOKED, 1);
  auto text = read_text(first);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(counter("delegations_freed"), 1U);
  EXPECT_EQ(counter("opens_lost"), 0U);
  close_at(mount(), std::move(first.open));
}

// RFC 8881 sections 8.3 and 10.2.1: once a lease has passed since the last renewal was sent, the
// server may have given the file to others.
TEST_F(Delegations, NothingIsGrantedHereAfterTheLeaseMayHaveRunOut) {
  Opened file = open_delegated("file", kBoth);
  ASSERT_TRUE(open_here(file, kRead)) << "as long as it holds";
  reactor_.settle();
  server_.unreachable = true;
  server_.disconnect();
  reactor_.advance(kLease + std::chrono::seconds(1));
  EXPECT_FALSE(open_here(file, kRead));
  const WantedLock wanted{.owner = {LockKind::posix, 1}, .range = {}, .exclusive = true};
  Pending<Result<LockGrant>> locking(client::lock(mount(), file.open.file(), wanted));
  Pending<Result<std::optional<LockConflict>>> testing(
      test_lock(mount(), file.open.file(), {.owner = {LockKind::posix, 2}, .range = {}}));
  reactor_.advance(std::chrono::seconds(30));
  EXPECT_FALSE(locking.done());
  EXPECT_FALSE(testing.done());
  server_.unreachable = false;
  auto locked = finish(locking);
  EXPECT_TRUE(locked) << locked.error().message();
  EXPECT_TRUE(finish(testing));
  EXPECT_TRUE(mount().session().lease_holds()) << "it was renewed before anything was granted";
  close_at(mount(), std::move(file.open));
}

// The server says that something is revoked, and has not said yet what.
TEST_F(Delegations, NothingIsGrantedHereWhileItIsNotKnownWhatIsRevoked) {
  Opened file = open_delegated("file", kBoth);
  server_.hold_callbacks = true;
  auto writer = open_at_other("file", kWrite);
  ASSERT_TRUE(writer) << writer.error().message();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_TEST_STATEID) ? Fate::hold : Fate::answer;
  };
  EXPECT_TRUE(run(getattr(mount(), caller(), root())));
  EXPECT_TRUE(mount().delegations().held(file.handle)) << "the client has not been told";
  EXPECT_FALSE(open_here(file, kRead));
  EXPECT_FALSE(mount().session().lease_holds());
  server_.fate = nullptr;
  server_.disconnect();
  close_at(other(), std::move(writer->open));
  close_at(mount(), std::move(file.open));
}

TEST_F(Delegations, AnUnmountReturnsEverything) {
  for (const char* name : {"a", "b", "c"}) {
    server_.write_file(name, name);
    close_at(mount(), open_delegated(name, kRead).open);
  }
  auto stopped = run(mount().stop());
  EXPECT_TRUE(stopped) << stopped.error().message();
  EXPECT_EQ(counter("delegations_returned"), 3U);
  auto writer = open_at_other("a", kWrite);
  EXPECT_TRUE(writer) << writer.error().message();
  EXPECT_EQ(other_counter("session_requests_delayed"), 0U);
  close_at(other(), std::move(writer->open));
}

// POSIX lets who creates a file open it for more than its mode says. That the server has let it
// proves nothing for the next open.
TEST_F(Delegations, WhoHasMadeAFileOpensItAgainAsItsModeSays) {
  SetAttributes initial;
  initial.mode = 0444;
  auto made = run(create(mount(), caller(), root(), "made", CreateMode::guarded, initial, kBoth));
  ASSERT_TRUE(made) << made.error().message();
  ASSERT_TRUE(mount().delegations().held(made->handle));
  EXPECT_TRUE(open_here(*made, kRead));
  EXPECT_FALSE(open_here(*made, kWrite)) << "the server says EACCES";
  close_at(mount(), std::move(made->open));
}

// O_CREAT of a file that is there: the mode bits of its owner are no other user's.
TEST_F(Delegations, TheModeOfTheOwnerLetsNobodyElseIn) {
  std::filesystem::permissions(server_.path("."), std::filesystem::perms(0755));
  std::filesystem::permissions(server_.path("file"), std::filesystem::perms(0666));
  Credential stranger = caller();
  stranger.uid += 1000;
  auto opened = run(create(mount(), stranger, root(), "file", CreateMode::unchecked, {}, kWrite));
  ASSERT_TRUE(opened) << opened.error().message();
  ASSERT_TRUE(mount().delegations().held(opened->handle));
  EXPECT_FALSE(open_locally(mount(), stranger, opened->handle, kRead))
      << "it has asked the server for writing alone";
  close_at(mount(), std::move(opened->open));
}

TEST_F(Delegations, BesideAnOpenInTroubleTheServerIsAsked) {
  Opened first = open_delegated("file", kRead);
  first.open.file()->server_open().on_refused(NFS4ERR_ADMIN_REVOKED);
  EXPECT_FALSE(open_here(first, kRead)) << "it would be lost with the other";
  mount().session().state_refused();
  reactor_.settle();
  EXPECT_EQ(counter("opens_lost"), 1U);
  Opened second = open_file("file", kRead);
  auto text = read_text(second);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(second.open));
  close_at(mount(), std::move(first.open));
}

// RFC 8881 section 10.2.1: another client may have changed the file since.
TEST_F(WithDirtyData, WhoCachesHearsOfALostDelegation) {
  opened_ = open_delegated("file", kBoth);
  server_.fail(OP_READ, NFS4ERR_DELEG_REVOKED, 1);
  EXPECT_TRUE(read_text(*opened_));
  EXPECT_EQ(counter("delegations_lost"), 1U);
  EXPECT_EQ(dirty_.ended.size(), 1U);
  close_at(mount(), std::move(opened_->open));
}

}  // namespace
}  // namespace nfsrdma::client::test
