// Setting attributes of an inode with the rights of a caller.
#pragma once

#include "client/proto/attributes.h"
#include "tests/responder/nfs/fs/credentials.h"
#include "tests/responder/nfs/fs/file_table.h"

namespace nfsrdma::responder {

/// Decodes attributes to set. ATTRNOTSUPP for attributes that are not supported, INVAL for those
/// that cannot be set, BADOWNER for owners that are no numbers, BADXDR.
Outcome<nfs4::Attributes> decode_settable(const nfs4::fattr4& values);

/// Sets size, owner, mode and times, in this order (a change of owner clears set-id bits). `set`
/// gets the attributes that were set, also when a later one fails. `size_fd` is an open descriptor
/// that may truncate, or -1: then the caller's rights decide.
nfs4::nfsstat4 apply_attributes(FileTable& files, const Identity& who, const FileRef& file,
                                const nfs4::Attributes& change, int size_fd, nfs4::bitmap4& set);

}  // namespace nfsrdma::responder
