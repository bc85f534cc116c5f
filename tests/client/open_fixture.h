// A fake server that keeps one open file by the rules of stateids.
#pragma once

#include <gtest/gtest.h>

#include "client/files/lock.h"
#include "client/files/open.h"
#include "client/files/open_files.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {

using namespace nfs4;

inline constexpr std::uint32_t kRead = OPEN4_SHARE_ACCESS_READ;
inline constexpr std::uint32_t kWrite = OPEN4_SHARE_ACCESS_WRITE;
inline constexpr std::uint32_t kBoth = OPEN4_SHARE_ACCESS_BOTH;
inline constexpr LockOwner kAnn{LockKind::posix, 1};

/// A server's view of one open file: the stateid rules of RFC 8881 section 8.2.2.
class OpenTest : public FakeMount {
 protected:
  OpenTest() {
    server_.on<OPEN4args, OPEN4res>([this](const OPEN4args& args, OPEN4res& result) {
      last_open_ = args.share_access;
      owner_.assign(args.owner.owner.begin(), args.owner.owner.end());
      how_ = args.openhow.how.mode;
      if (state_.seqid == 0) state_.other[0] = static_cast<std::byte>(++incarnation_);
      ++state_.seqid;
      result.resok4.stateid = state_;
      result.resok4.delegation = delegation_;
      result.resok4.attrset = attrset_;
      result.resok4.rflags = rflags_;
    });
    server_.on<CLOSE4args, CLOSE4res>([this](const CLOSE4args& args, CLOSE4res& result) {
      result.status = check(args.open_stateid);
      if (result.status == NFS4_OK) state_ = {};
    });
    server_.on<OPEN_DOWNGRADE4args, OPEN_DOWNGRADE4res>(
        [this](const OPEN_DOWNGRADE4args& args, OPEN_DOWNGRADE4res& result) {
          result.status = check(args.open_stateid);
          if (result.status != NFS4_OK) return;
          downgraded_to_ = args.share_access;
          ++state_.seqid;
          result.resok4.open_stateid = state_;
        });
  }

  nfsstat4 check(const stateid4& stateid) const {
    if (stateid.other != state_.other || state_.seqid == 0) return NFS4ERR_BAD_STATEID;
    if (stateid.seqid < state_.seqid) return NFS4ERR_OLD_STATEID;
    return stateid.seqid == state_.seqid ? NFS4_OK : NFS4ERR_BAD_STATEID;
  }

  OpenRef must_open(std::uint32_t access, std::uint32_t uid = 0) {
    Credential caller;
    caller.uid = uid;
    auto opened = run(open(mount(), caller, handle(1), access));
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(opened->open);
  }
  bool must_close(OpenRef ref) {
    auto closed = run(mount().opens().close(std::move(ref)));
    return closed.has_value();
  }

  stateid4 state_;
  int incarnation_ = 0;
  std::uint32_t last_open_ = 0;
  std::uint32_t downgraded_to_ = 0;
  std::vector<std::byte> owner_;
  createmode4 how_ = UNCHECKED4;
  open_delegation4 delegation_;
  bitmap4 attrset_;
  std::uint32_t rflags_ = 0;
};

}  // namespace nfsrdma::client::test
