// A mount whose server has opens, and may forget or refuse them; in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "client/files/open.h"
#include "client/files/open_files.h"
#include "client/requests/read.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {

using namespace nfs4;

inline constexpr std::uint32_t kRead = OPEN4_SHARE_ACCESS_READ;
inline constexpr std::uint32_t kWrite = OPEN4_SHARE_ACCESS_WRITE;
inline constexpr std::uint32_t kBoth = OPEN4_SHARE_ACCESS_BOTH;

/// A server with opens: one stateid for each OPEN, good until forget_opens(). Its files are told
/// apart by nothing: what matters is which claims are made.
class RecoveryTest : public FakeMount {
 protected:
  RecoveryTest() {
    server_.on<OPEN4args, OPEN4res>([this](const OPEN4args& args, OPEN4res& result) {
      claims_.push_back(args.claim.claim);
      accesses_.push_back(args.share_access & OPEN4_SHARE_ACCESS_BOTH);
      result.status = judge(args.claim.claim);
      if (result.status != NFS4_OK) return;
      result.resok4.stateid.seqid = 1;
      result.resok4.stateid.other[0] = static_cast<std::byte>(++last_state_);
    });
    server_.on<READ4args, READ4res>([this](const READ4args& args, READ4res& result) {
      const auto state = std::to_integer<int>(args.stateid.other[0]);
      result.status = state > forgotten_ ? NFS4_OK : refusal_;
      result.resok4.eof = true;
    });
    server_.on<TEST_STATEID4args, TEST_STATEID4res>(
        [this](const TEST_STATEID4args& args, TEST_STATEID4res& result) {
          batches_.push_back(args.ts_stateids.size());
          for (const stateid4& stateid : args.ts_stateids) {
            const bool good = std::to_integer<int>(stateid.other[0]) > forgotten_;
            result.tsr_resok4.tsr_status_codes.push_back(good ? NFS4_OK : refusal_);
          }
          result.tsr_resok4.tsr_status_codes.resize(args.ts_stateids.size() + surplus_codes_,
                                                    NFS4ERR_ADMIN_REVOKED);
        });
  }

  nfsstat4 judge(open_claim_type4 claim) const {
    if (claim == CLAIM_PREVIOUS) return previous_;
    return claim == CLAIM_FH && claims_.size() > counted_ ? again_ : NFS4_OK;
  }
  OpenRef must_open(int file, std::uint32_t access = kRead) {
    auto opened = run(open(mount(), {}, handle(file), access));
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(opened->open);
  }
  /// Handles come from GETFH: the one of the file that PUTFH named.
  Result<ReadData> read_from(const OpenRef& file) {
    return run(read(mount(), {}, file->handle(), file.state(), 0, data_));
  }
  /// From now on claims are counted, and the server has forgotten all opens.
  void forget_opens(bool client_too) {
    if (client_too) server_.forget(true);
    forgotten_ = last_state_;
    claims_.clear();
    accesses_.clear();
    counted_ = 0;
  }
  std::size_t count(open_claim_type4 claim) const {
    return static_cast<std::size_t>(std::ranges::count(claims_, claim));
  }
  void expect_one_reclaim_complete_for_each_client() {
    EXPECT_EQ(server_.executions_of(OP_RECLAIM_COMPLETE), counter("recovery_client_ids"));
  }

  std::array<std::byte, 64> data_{};
  int last_state_ = 0;
  int forgotten_ = 0;  ///< stateids up to this one are not known any more
  nfsstat4 refusal_ = NFS4ERR_BAD_STATEID;
  nfsstat4 previous_ = NFS4_OK;  ///< what CLAIM_PREVIOUS is answered
  nfsstat4 again_ = NFS4_OK;     ///< what CLAIM_FH is answered after forget_opens()
  std::size_t counted_ = SIZE_MAX;
  std::vector<open_claim_type4> claims_;
  std::vector<std::uint32_t> accesses_;
  std::vector<std::size_t> batches_;
  std::size_t surplus_codes_ = 0;  ///< that TEST_STATEID answers beyond what was asked
};

}  // namespace nfsrdma::client::test
