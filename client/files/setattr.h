// SETATTR (RFC 8881 section 18.30) of a file that may be delegated to this client.
#pragma once

#include "client/compound/state_holder.h"
#include "client/proto/object.h"
#include "client/requests/set_attributes.h"

namespace nfsrdma::client {

struct Files;

/// `state`: an open for writing when the size changes and there is one, else none: the anonymous
/// stateid (all zero).
Task<Result<Changed>> setattr(Files& files, Credential caller, FileHandle file, StateRef state,
                              SetAttributes change);

}  // namespace nfsrdma::client
