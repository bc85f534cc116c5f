// Locks on a file that is delegated for writing, of two clients in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "client/files/local_lock.h"
#include "client/files/lock.h"
#include "client/files/locked_io.h"
#include "client/files/open.h"
#include "client/requests/errno.h"
#include "client/requests/read.h"
#include "tests/client/delegations.h"

namespace nfsrdma::client::test {

inline constexpr LockOwner kAnn{LockKind::posix, 1};
inline constexpr LockOwner kBob{LockKind::posix, 2};
inline constexpr LockOwner kDescription{LockKind::flock, 3};

/// `file_` is open for reading and writing under a write delegation.
class DelegatedLocks : public Delegations {
 protected:
  void SetUp() override {
    Delegations::SetUp();
    file_ = open_delegated("file", kBoth);
  }
  void TearDown() override {
    file_ = {};
    elsewhere_ = {};
    reactor_.settle();
    Delegations::TearDown();
  }

  static WantedLock wanted(LockOwner owner, ByteRange range, bool exclusive) {
    return {.owner = owner,
            .pid = static_cast<std::int32_t>(owner.id),
            .range = range,
            .exclusive = exclusive};
  }
  Task<Result<LockGrant>> locking(LockOwner owner, ByteRange range, bool exclusive = true) {
    return client::lock(mount(), file_.open.file(), wanted(owner, range, exclusive));
  }
  /// 0 or an errno; EAGAIN: another owner's lock is in the way.
  int lock_here(LockOwner owner, ByteRange range, bool exclusive = true) {
    auto locked = run(locking(owner, range, exclusive));
    return locked ? 0 : to_errno(locked.error());
  }
  int unlock_here(LockOwner owner, ByteRange range) {
    auto unlocked = run(unlock(mount(), file_.open.file(), owner, range));
    return unlocked ? 0 : to_errno(unlocked.error());
  }
  /// Whether the range is free for an exclusive lock of a new owner on this mount.
  bool free_here(ByteRange range) {
    auto tested =
        run(test_lock(mount(), file_.open.file(), wanted({LockKind::posix, 9}, range, true)));
    EXPECT_TRUE(tested) << tested.error().message();
    return tested && !*tested;
  }
  /// The same at the server, for another client, which makes the delegation be returned by opening.
  bool free_elsewhere(ByteRange range) {
    if (!elsewhere_.open) {
      auto opened = open_at_other("file", kBoth);
      EXPECT_TRUE(opened) << opened.error().message();
      if (!opened) return false;
      elsewhere_ = std::move(*opened);
    }
    auto tested = run(test_lock(other(), elsewhere_.open.file(), wanted(kAnn, range, true)));
    EXPECT_TRUE(tested) << tested.error().message();
    return tested && !*tested;
  }
  void give_back(const FileHandle& handle) {
    const auto returning = [this, handle]() -> Task<int> {
      co_await mount().delegations().give_back(handle);
      co_return 0;
    };
    run(returning());
  }
  /// Ann's locks are, and no other owner's, nor the open.
  void expect_lost(const char* why) {
    EXPECT_EQ(counter("locks_lost"), 1U) << why;
    EXPECT_EQ(counter("opens_lost"), 0U);
    EXPECT_EQ(read_as_ann(), EIO) << why;
    EXPECT_TRUE(read_text(file_)) << "an owner without locks goes on";
    EXPECT_EQ(unlock_here(kAnn, {0, 9}), 0) << "nothing is left to be unlocked";
    EXPECT_EQ(read_as_ann(), 0);
  }
  int read_as_ann() {
    const auto held = lock_for_io(file_.open->locks(), {.owner = kAnn.id, .range = {0, 9}});
    Buffer sink = data_->acquire();
    auto data = run(read(mount(), caller(), file_.handle, io_state(file_.open.file(), held), 0,
                         sink.first(10)));
    return data ? 0 : to_errno(data.error());
  }
  bool local() const { return lock_keeper(*mount_, file_.handle) == LockKeeper::client; }

  Opened file_;
  Opened elsewhere_;
};

}  // namespace nfsrdma::client::test
