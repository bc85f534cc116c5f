// The entries of a directory.
#pragma once

#include <cstdint>

#include "cache/file/attribute_cache.h"
#include "cache/file/directory.h"

namespace nfsrdma::cache {

/// Makes the entries after `cookie` present in the directory's stream, unless it ends there. True
/// when another page was fetched for that. For the holder of Directory::reading.
Task<Result<bool>> list_from(AttributeCache& attributes, client::Credential caller,
                             DirectoryRef directory, std::uint64_t cookie);

/// For how long the names of the present page may be believed still; zero: not at all. They are of
/// the time when the page was asked for, and a reader may take its entries much later; after a
/// change of names made here they may be gone.
Duration names_remaining(AttributeCache& attributes, const Directory& directory);

/// The inode of an entry of the present page, with its attributes. Null when the server has told
/// none, or the names are believed no more.
InodeRef inode_of(AttributeCache& attributes, const Directory& directory,
                  const client::Entry& entry);

}  // namespace nfsrdma::cache
