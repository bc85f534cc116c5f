// Finishes an object that CREATE or OPEN has just made.
#pragma once

#include "client/proto/attributes.h"
#include "tests/responder/nfs/compound_context.h"

namespace nfsrdma::responder {

/// Sets the requested attributes of the object. Its mode was an argument of the system call that
/// made it, but mkdir(2) leaves the set-id bits out. `fd` is open for writing, or -1.
nfs4::nfsstat4 finish_new_object(CompoundContext& context, const FoundFile& made,
                                 nfs4::Attributes attributes, int fd, nfs4::bitmap4& set);

}  // namespace nfsrdma::responder
