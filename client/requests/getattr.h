// GETATTR (RFC 8881 section 18.7).
#pragma once

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// All that stat(2) tells, and the change attribute.
Task<Result<Attributes>> getattr(RequestContext& context, Credential caller, FileHandle file);
/// Those of its file system that statfs(2) reports (RFC 8881 section 5.8.2).
Task<Result<Attributes>> statfs(RequestContext& context, Credential caller, FileHandle file);
/// These attributes, owners not among them.
Task<Result<Attributes>> get_facts(RequestContext& context, Credential caller, FileHandle file,
                                   nfs4::bitmap4 wanted);

}  // namespace nfsrdma::client
