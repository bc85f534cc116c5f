// The opens, locks and delegations of a mount.
#pragma once

#include "client/files/delegations.h"
#include "client/files/open_files.h"
#include "client/session/request_context.h"
#include "client/state/delegation_table.h"
#include "client/state/lock_waiters.h"
#include "client/state/open_table.h"

namespace nfsrdma::client {

/// The tables and what works on them; the functions of this folder take it. Belongs to one shard.
struct Files {
  /// `with_delegations`: asks for one with every OPEN that can use it.
  Files(RequestContext& of, bool with_delegations)
      : context(of),
        open_table(of.reactor),
        lock_waiters(of.reactor),
        opens(of, open_table, delegation_table),
        delegations(*this),
        delegations_wanted(with_delegations) {}
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  RequestContext& context;
  OpenTable open_table;
  DelegationTable delegation_table;
  LockWaiters lock_waiters;
  OpenFiles opens;
  Delegations delegations;
  const bool delegations_wanted;
  /// Attributes that an exclusive create can set at once (FATTR4_SUPPATTR_EXCLCREAT).
  nfs4::bitmap4 exclusive_attributes;
};

}  // namespace nfsrdma::client
