// SETATTR (RFC 8881 section 18.30), with the change attribute before and all attributes afterwards.
#pragma once

#include "client/compound/state_holder.h"
#include "client/proto/object.h"
#include "client/requests/set_attributes.h"

namespace nfsrdma::client {

struct RequestContext;

/// `state`: an open for writing, or a delegation, when the size changes and there is one, else
/// none: the anonymous stateid (all zero).
Task<Result<Changed>> send_setattr(RequestContext& context, Credential caller, FileHandle file,
                                   StateRef state, SetAttributes change);

}  // namespace nfsrdma::client
