// The holders of delegations, and their recall (RFC 8881 sections 10.2, 10.4, 20.1, 20.2).
#pragma once

#include <memory>
#include <unordered_map>

#include "client/proto/attributes.h"
#include "client/proto/ops_open.h"
#include "tests/responder/nfs/config.h"
#include "tests/responder/nfs/fs/file_table.h"
#include "tests/responder/nfs/put_off_requests.h"
#include "tests/responder/nfs/session/session.h"
#include "tests/responder/nfs/state/state_table.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"

namespace nfsrdma::responder {

class CompoundContext;

/// Counters over all restarts of the server.
struct DelegationCounters {
  Counter granted;
  Counter recalls;
  Counter returned;
  Counter revoked;
  Counter asked;  ///< CB_GETATTR
};

/// The delegations of one life of the server. Belongs to the reactor's thread.
///
/// A conflicting request recalls and is answered with NFS4ERR_DELAY until the delegation is back;
/// one that is not back a lease after its recall is revoked. A file that was recalled is not
/// delegated again for kContention, so that the request that caused it gets its turn.
class Delegations {
 public:
  static constexpr Duration kContention = std::chrono::seconds(1);

  Delegations(const ServiceConfig& config, Reactor& reactor, StateTable& states,
              SessionTable& sessions, DelegationCounters& counters);
  ~Delegations();

  /// The delegation for an OPEN that has succeeded, or the reason for none.
  nfs4::open_delegation4 grant(CompoundContext& context, const nfs4::OPEN4args& args,
                               const FileRef& file);
  /// NFS4ERR_DELAY while a delegation of another client is in the way of `access`
  /// (OPEN4_SHARE_ACCESS_*; a change of attributes or names counts as writing).
  nfs4::nfsstat4 make_way(const Client& client, const File& file, std::uint32_t access);
  /// Puts the size of the current file, when another client may write it under a delegation, to
  /// what that client says: NFS4ERR_DELAY until it has. `dirty`: it has data that the server has
  /// not. A holder that cannot be asked gets the delegation recalled, so that this ends in a lease.
  nfs4::nfsstat4 ask_holder(CompoundContext& context, nfs4::Attributes& attributes, bool& dirty);
  /// DELEGRETURN, or FREE_STATEID of a revoked one.
  void remove(DelegationState& delegation);
  /// Recalls everything; returns how many.
  std::size_t recall_all();
  /// Asks every client to keep at most so many (CB_RECALL_ANY).
  void recall_any(std::uint32_t keep);

 private:
  enum class Asked { recall, attributes };

  bool may_grant(const CompoundContext& context, const File& file, bool for_writing) const;
  void recall(DelegationState& delegation);
  void send_recall(DelegationState& delegation);
  void send_getattr(DelegationState& delegation);
  void take_attributes(std::uint64_t id, const Result<xdr::Decoder>& result);
  void ended(std::uint64_t id, bool told);
  Session* session_of(const Client& client);
  void check_recalled();
  void revoke(DelegationState& delegation);

  const ServiceConfig& config_;
  Reactor& reactor_;
  StateTable& states_;
  SessionTable& sessions_;
  DelegationCounters& counters_;
  std::unordered_map<InodeKey, TimePoint, InodeKeyHash> contended_;  // until when
  PutOffRequests put_off_;
  Timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// Delegations::make_way for the client and server of a COMPOUND.
nfs4::nfsstat4 recall_from_others(CompoundContext& context, const File& file, std::uint32_t access);
/// The same before a name of the inode changes.
nfs4::nfsstat4 recall_by_key(CompoundContext& context, const InodeKey& key);

}  // namespace nfsrdma::responder
