// P17: whatever goes wrong during the recovery, and whenever: it is over within two leases, files
// work or fail with EIO, and RECLAIM_COMPLETE was sent once for each client id.
#include "client/files/lock.h"
#include "client/files/open_files.h"
#include "client/requests/errno.h"
#include "client/requests/getattr.h"
#include "tests/client/served_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

constexpr std::uint32_t kGraceSeconds = 45;
/// The operations of a recovery.
constexpr nfs_opnum4 kSteps[] = {OP_EXCHANGE_ID, OP_CREATE_SESSION, OP_OPEN, OP_LOCK,
                                 OP_RECLAIM_COMPLETE};

/// A mount with an open file and a lock on another one.
class P17_RecoveryEnds : public ServedMount {
 protected:
  void SetUp() override {
    ServedMount::SetUp();
    server_.write_file("file", "content");
    server_.write_file("locked", "content");
    file_ = open_file("file", OPEN4_SHARE_ACCESS_BOTH);
    locked_ = open_file("locked", OPEN4_SHARE_ACCESS_BOTH);
    lock_file();
    completes_ = server_.successes_of(OP_RECLAIM_COMPLETE);
  }
  void TearDown() override {
    file_.reset();
    locked_.reset();
    reactor_.settle();
    ServedMount::TearDown();
  }

  /// A file either goes on or has been given up, and says so.
  void expect_decided(const Opened& file) {
    auto text = read_text(file);
    if (text) {
      EXPECT_EQ(*text, "content");
      return;
    }
    EXPECT_EQ(to_errno(text.error()), EIO) << text.error().message();
    EXPECT_TRUE(file.open.file()->lost());
  }
  void expect_recovered_within_two_leases(TimePoint begun) {
    auto attributes = run(getattr(mount(), caller(), root()));
    EXPECT_TRUE(attributes) << attributes.error().message();
    expect_decided(*file_);
    expect_decided(*locked_);
    stop_failing();
    EXPECT_LE(reactor_.now() - begun, 2 * kLease);
    EXPECT_EQ(counter("recovery_states_pending"), 0U);
    Opened again = open_file("file", OPEN4_SHARE_ACCESS_READ);
    EXPECT_TRUE(read_text(again)) << "the next open starts afresh";
    // Not for a client id that never got a session.
    const int completes = server_.successes_of(OP_RECLAIM_COMPLETE);
    EXPECT_GT(completes, completes_);
    EXPECT_LE(completes, static_cast<int>(counter("recovery_client_ids")));
    completes_ = completes;
  }
  void stop_failing() {
    for (const nfs_opnum4 step : kSteps) server_.fail(step, NFS4_OK, 0);
  }
  /// What has been given up is opened again.
  void open_lost_files() {
    if (file_->open.file()->lost()) *file_ = open_file("file", OPEN4_SHARE_ACCESS_BOTH);
    if (!locked_->open.file()->lost()) return;
    *locked_ = open_file("locked", OPEN4_SHARE_ACCESS_BOTH);
    lock_file();
  }
  void lock_file() {
    WantedLock wanted;
    wanted.owner.id = 1;
    wanted.range = ByteRange::whole_file();
    wanted.exclusive = true;
    auto locked = run(client::lock(mount(), locked_->open.file(), wanted));
    EXPECT_TRUE(locked) << locked.error().message();
  }

  std::optional<Opened> file_;
  std::optional<Opened> locked_;
  int completes_ = 0;
};

// Each operation of the recovery with each error, three times in a row.
TEST_F(P17_RecoveryEnds, EachStepWithEachError) {
  const nfsstat4 errors[] = {NFS4ERR_DELAY,
                             NFS4ERR_GRACE,
                             NFS4ERR_NO_GRACE,
                             NFS4ERR_RECLAIM_BAD,
                             NFS4ERR_RECLAIM_CONFLICT,
                             NFS4ERR_EXPIRED,
                             NFS4ERR_STALE_CLIENTID,
                             NFS4ERR_BADSESSION,
                             NFS4ERR_SERVERFAULT,
                             NFS4ERR_IO};
  for (const nfs_opnum4 step : kSteps) {
    for (const nfsstat4 error : errors) {
      SCOPED_TRACE(::testing::Message() << "operation " << step << " fails with " << error);
      open_lost_files();
      const TimePoint begun = reactor_.now();
      server_.fail(step, error, 3);
      server_.reboot(kGraceSeconds);
      expect_recovered_within_two_leases(begun);
      if (HasFailure()) return;
    }
  }
}

// The server restarts once more while states are reclaimed, at each of the calls in turn.
TEST_F(P17_RecoveryEnds, ARestartDuringTheReclaim) {
  constexpr int kCalls = 10;
  for (int at = 1; at <= kCalls; ++at) {
    SCOPED_TRACE(at);
    open_lost_files();
    const TimePoint begun = reactor_.now();
    int calls = 0;
    bool rebooted = false;
    server_.fate = [&](const Arrival&) {
      if (++calls == at && !std::exchange(rebooted, true)) {
        server_.reboot(kGraceSeconds);
        return Fate::disconnect_before;
      }
      return Fate::answer;
    };
    server_.reboot(kGraceSeconds);
    expect_recovered_within_two_leases(begun);
    server_.fate = nullptr;
    EXPECT_FALSE(file_->open.file()->lost());
    if (HasFailure()) return;
  }
}

// A server that restarts whenever something is reclaimed.
TEST_F(P17_RecoveryEnds, ARestartAtEveryReclaim) {
  const TimePoint begun = reactor_.now();
  bool over = false;
  server_.fate = [&](const Arrival& arrival) {
    const bool reclaim = arrival.has(OP_OPEN) || arrival.has(OP_LOCK);
    if (!reclaim || over) return Fate::answer;
    server_.reboot(kGraceSeconds);
    return Fate::disconnect_before;
  };
  server_.reboot(kGraceSeconds);
  auto attributes = run(getattr(mount(), caller(), root()));
  EXPECT_TRUE(attributes) << attributes.error().message();
  EXPECT_LE(reactor_.now() - begun, 2 * kLease);
  over = true;
  expect_decided(*file_);
  expect_decided(*locked_);
}

// The grace period ends between two reclaims: what comes too late is opened anew.
TEST_F(P17_RecoveryEnds, GraceEndsHalfWay) {
  int reclaims = 0;
  server_.fate = [&](const Arrival& arrival) {
    if (arrival.has(OP_OPEN) && ++reclaims == 2) server_.fail(OP_OPEN, NFS4ERR_NO_GRACE);
    return Fate::answer;
  };
  const TimePoint begun = reactor_.now();
  server_.reboot(kGraceSeconds);
  expect_recovered_within_two_leases(begun);
  EXPECT_GE(reclaims, 3) << "two reclaims, and one of them anew";
}

}  // namespace
}  // namespace nfsrdma::client::test
