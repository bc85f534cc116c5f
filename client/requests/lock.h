// LOCK, LOCKT and LOCKU (RFC 8881 sections 18.10 to 18.12).
#pragma once

#include <optional>

#include "client/compound/state_holder.h"
#include "client/requests/lock_owner.h"
#include "client/requests/sending.h"

namespace nfsrdma::client {

/// Arguments of LOCK.
struct LockRequest {
  LockOwner owner;
  ByteRange range;
  bool exclusive = false;
  bool will_wait = false;  ///< the server may tell when to ask again (CB_NOTIFY_LOCK)
  bool reclaim = false;
  bool new_owner = false;  ///< the owner has no stateid yet
  StateRef state;          ///< the owner's, or, while it has none, the open's
};

/// The conflicting lock of another owner.
struct LockDenied {
  ByteRange range;
  bool exclusive = false;
  std::optional<LockOwner> owner;  ///< if it is one of this client's
};

/// LOCK. The owner's stateid.
Task<Result<nfs4::stateid4>> send_lock(RequestContext& context, Credential caller, FileHandle file,
                                       LockRequest request, Sending sending);
/// LOCKT. Empty: nothing is in the way.
Task<Result<std::optional<LockDenied>>> lockt(RequestContext& context, Credential caller,
                                              FileHandle file, LockOwner owner, ByteRange range,
                                              bool exclusive);
/// LOCKU. The owner's stateid.
Task<Result<nfs4::stateid4>> locku(RequestContext& context, Credential caller, FileHandle file,
                                   StateRef lock, ByteRange range);
/// The same for a file that is being closed: that lets no OPEN pass, so the state is not recovered
/// here, and DELAY not waited for.
Task<Result<nfs4::stateid4>> locku(RequestContext& context, Credential caller, FileHandle file,
                                   nfs4::stateid4 lock, ByteRange range);

}  // namespace nfsrdma::client
