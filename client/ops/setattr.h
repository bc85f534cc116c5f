// SETATTR (RFC 8881 section 18.30), with the attributes afterwards.
#pragma once

#include "client/ops/set_attributes.h"
#include "client/types.h"

namespace nfsrdma::client {

class Mount;

/// `stateid`: of an open for writing when the size changes and there is one, else the anonymous
/// stateid (all zero).
Task<Result<Attributes>> setattr(Mount& mount, Caller caller, FileHandle file,
                                 nfs4::stateid4 stateid, SetAttributes change);

}  // namespace nfsrdma::client
