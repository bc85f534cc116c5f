// GETATTR (RFC 8881 section 18.7).
#pragma once

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// All that stat(2) tells, and the change attribute.
Task<Result<Attributes>> getattr(RequestContext& context, Credential caller, FileHandle file);
/// These attributes, owners not among them.
Task<Result<Attributes>> get_facts(RequestContext& context, Credential caller, FileHandle file,
                                   nfs4::bitmap4 wanted);

}  // namespace nfsrdma::client
