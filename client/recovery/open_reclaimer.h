// The recovery of opens (RFC 8881 sections 8.4.2, 8.4.3, 9.8 and 9.11).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/files/files.h"
#include "client/proto/ops_open.h"
#include "client/recovery/reclaimer.h"
#include "client/recovery/stateid_requests.h"
#include "client/state/open_table.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

/// Recovers an open in use with each share access that it was opened with, so that it can be
/// downgraded to each of them later. Reactions to the server's answers:
///
///   CLAIM_PREVIOUS  NO_GRACE, RECLAIM_BAD,     opened anew, as the Linux client does; its locks at
///                   RECLAIM_CONFLICT           the server are lost: others may have had them
///                   any other error            lost
///   CLAIM_FH        any error                  lost
///   TEST_STATEID    ADMIN_REVOKED, ...         FREE_STATEID, lost
///                   EXPIRED, BAD_STATEID, ...  FREE_STATEID, opened anew
///
/// Requests are repeated after DELAY and GRACE for as long as a lease; CLAIM_FH, after GRACE, for
/// three leases and five minutes at least. Users of a lost open get EIO; the next open(2) of the
/// file starts afresh. An open that is opened anew keeps the locks that TEST_STATEID still finds
/// valid; the others are lost (OpenTable::lose_locks).
class OpenReclaimer final : public Reclaimer {
 public:
  OpenReclaimer(Files& files, const Credential& caller)
      : files_(files), stateids_(files.context, caller) {}

  void on_all_forgotten() override;
  Task<Result<void>> reclaim(rpc::Channel& channel) override;
  Task<void> reopen() override;
  Task<void> find_revoked() override;
  std::size_t pending() const override;

  void visit_counters(CounterVisitor& visitor) const;

 private:
  Task<void> reopen_one(OpenFileRef file);
  /// After the file was opened anew: asks which of its locks the server still has.
  Task<void> check_locks(OpenFileRef file);
  /// Gives up the locks that the server has refused or says it does not have.
  Task<void> relock(OpenFileRef file);
  /// OPENs with every share access in use; `channel` null: by ordinary requests.
  Task<Result<void>> open_all(rpc::Channel* channel, OpenFileRef file,
                              nfs4::open_claim_type4 claim);
  Task<Result<void>> open_one(rpc::Channel* channel, OpenFileRef file, nfs4::open_claim_type4 claim,
                              std::uint32_t access);
  /// One attempt. The status of OPEN is in the error.
  Task<Result<nfs4::stateid4>> ask(rpc::Channel* channel, OpenFileRef file,
                                   nfs4::open_claim_type4 claim, std::uint32_t access);
  nfs4::open_delegation_type4 delegation_to_reclaim(const OpenFile& file) const;
  void take_delegation(OpenFile& file, const std::optional<GrantedDelegation>& granted);
  bool may_try_again(OpenFile& file) const;
  void judge_reclaim(const OpenFileRef& file, const Error& error);
  void give_up(OpenFile& file, const std::string& why);
  void note_recovered(OpenFile& file, Counter& counter);
  Task<void> on_refused(OpenFileRef file, nfs4::stateid4 sent, nfs4::nfsstat4 code);
  using Locks = std::vector<FileLocks::LockRef>;
  /// Notes which locks the server refuses; reopen() frees those and gives them up.
  Task<void> test_locks(Locks locks);
  Duration patience() const;

  Files& files_;
  StateidRequests stateids_;

  Counter reclaimed_;
  Counter reopened_;
  Counter delegations_reclaimed_;
};

}  // namespace nfsrdma::client
