// Questions that go to the server each time, because their answers are not cached.
#pragma once

#include <cstdint>
#include <string>

#include "cache/file/inode.h"
#include "client/mount.h"
#include "client/proto/object.h"

namespace nfsrdma::cache {

/// ACCESS4_* bits for a mask of access(2): R_OK, W_OK, X_OK.
std::uint32_t access4_bits(int mask, bool directory);

/// Whether the server lets the caller do all that the mask of access(2) has.
Task<Result<bool>> access(client::Mount& mount, client::Credential caller, InodeRef inode,
                          int mask);
/// The target of a symbolic link.
Task<Result<std::string>> readlink(client::Mount& mount, client::Credential caller, InodeRef inode);
/// Of the file system that the inode is of: space, files, the longest name.
Task<Result<client::Attributes>> statfs(client::Mount& mount, client::Credential caller,
                                        InodeRef inode);

}  // namespace nfsrdma::cache
