// From the stateid of READ, WRITE and SETATTR to the state it stands for (RFC 8881 sections 8.2.5
// and 9.1.2).
#pragma once

#include "tests/responder/nfs/compound_context.h"

namespace nfsrdma::responder {

/// NFS4_OK for a regular file; else ISDIR, SYMLINK or WRONG_TYPE.
nfs4::nfsstat4 not_a_regular_file(const File& file);

/// The open, locks or delegation of the current file, checked to allow `access`
/// (OPEN4_SHARE_ACCESS_*); null for a special stateid, once share reservations, grace period and
/// delegations of other clients have been found to allow it.
Outcome<State*> open_for_io(CompoundContext& context, const nfs4::stateid4& stateid,
                            std::uint32_t access);

/// Where locks are mandatory: NFS4ERR_LOCKED when one of another owner is in the way of `count`
/// bytes (0: all to the end). `state` is what open_for_io() found.
nfs4::nfsstat4 check_locks(CompoundContext& context, const State* state, std::uint64_t offset,
                           std::uint64_t count, bool writes);

/// A descriptor for I/O with a special stateid: opened with the caller's rights.
Outcome<UniqueFd> open_without_state(CompoundContext& context, std::uint32_t access);

}  // namespace nfsrdma::responder
