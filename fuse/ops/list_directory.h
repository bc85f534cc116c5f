// What OPENDIR and READDIR have in common: pages of a directory's names.
#pragma once

#include <cstdint>

#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// Goes back to the begin of the directory: its names are asked for again. For the holder of
/// Directory::reading, as everything here.
void rewind(cache::Directory& directory);

/// Makes the entries after `cookie` present in the stream, unless it ends there. Names that a new
/// page contradicts are looked up again by the kernel.
Task<Result<void>> list_page(FileSystem& fs, client::Credential caller,
                             cache::DirectoryRef directory, std::uint64_t cookie);

/// READDIR from the begin may use the page that OPENDIR has asked for: only the first one, and a
/// moment later.
bool take_opened_page(FileSystem& fs, cache::Directory& directory);

}  // namespace nfsrdma::fuse
