// The common part of LOCK, LOCKT and LOCKU.
#pragma once

#include "client/proto/ops_lock.h"
#include "tests/responder/nfs/compound_context.h"

namespace nfsrdma::responder {

/// The bytes of a lock request: INVAL for an empty range or one that wraps.
Outcome<ByteRange> byte_range(nfs4::offset4 offset, nfs4::length4 length);

bool is_exclusive(nfs4::nfs_lock_type4 type);

std::string_view owner_text(const nfs4::lock_owner4& owner);

/// The description of the conflicting lock in NFS4ERR_DENIED.
nfs4::LOCK4denied describe_conflict(const LockedRange& held);

}  // namespace nfsrdma::responder
