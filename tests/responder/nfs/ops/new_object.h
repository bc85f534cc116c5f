// What CREATE and OPEN do with an object they have just made.
#pragma once

#include "client/proto/attributes.h"
#include "tests/responder/nfs/compound_context.h"

namespace nfsrdma::responder {

/// Gives the object the attributes it was to be made with. The mode has been given to the system
/// call that made it, but mkdir(2) leaves the set-id bits out. `fd` is open for writing, or -1.
nfs4::nfsstat4 finish_new_object(CompoundContext& context, const FoundFile& made,
                                 nfs4::Attributes attributes, int fd, nfs4::bitmap4& set);

}  // namespace nfsrdma::responder
