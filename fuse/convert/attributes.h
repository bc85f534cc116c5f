// NFS attributes to remembered ones, and remembered ones to what stat(2) shows.
#pragma once

#include <sys/stat.h>

#include "cache/attr/file_attributes.h"
#include "client/proto/object.h"

namespace nfsrdma::fuse {

/// Takes over the attributes that are present and leaves the others as they are.
void apply(const client::Attributes& fresh, cache::FileAttributes& known);

/// Attributes complete enough to make an inode of: type, fileid and change.
bool describes_file(const client::Attributes& attributes);
/// False when the name service has not told yet who an owner is: nobody is shown meanwhile.
bool owners_known(const client::Attributes& attributes);

/// `root`: the mount's own file system. Files of other file systems of the server get an st_ino
/// made of both ids, because all of them share one st_dev.
struct stat to_stat(const cache::FileAttributes& attributes, const cache::FileSystemId& root);

/// st_ino as to_stat() makes it.
std::uint64_t inode_number(std::uint64_t fileid, const cache::FileSystemId& of,
                           const cache::FileSystemId& root);

/// S_IFMT bits; 0 for types without an equivalent.
std::uint32_t type_bits(nfs4::nfs_ftype4 type);

}  // namespace nfsrdma::fuse
