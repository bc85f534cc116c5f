// NFS attributes to remembered ones.
#pragma once

#include "cache/attr/file_attributes.h"
#include "client/proto/object.h"

namespace nfsrdma::cache {

/// Takes over the attributes that are present and leaves the others as they are.
void apply(const client::Attributes& fresh, FileAttributes& known);

/// Attributes complete enough to make an inode of: type, fileid and change.
bool describes_file(const client::Attributes& attributes);
/// False while the name service has not answered for an owner: it is shown as nobody (65534).
bool owners_known(const client::Attributes& attributes);

/// S_IFMT bits; 0 for types without an equivalent.
std::uint32_t type_bits(nfs4::nfs_ftype4 type);

}  // namespace nfsrdma::cache
