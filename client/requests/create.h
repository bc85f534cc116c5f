// CREATE (RFC 8881 section 18.4): directories, symbolic links, special files. Regular files are
// created by OPEN (client/files/open.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// Names and targets need to be valid until the first suspension only. mode: permission bits.
Task<Result<Made>> make_directory(RequestContext& context, Credential caller, FileHandle dir,
                                  std::string_view name, std::uint32_t mode);
Task<Result<Made>> make_symlink(RequestContext& context, Credential caller, FileHandle dir,
                                std::string_view name, std::string_view target);
/// type: NF4FIFO, NF4SOCK, NF4CHR or NF4BLK; device: for the last two.
Task<Result<Made>> make_node(RequestContext& context, Credential caller, FileHandle dir,
                             std::string_view name, nfs4::nfs_ftype4 type, std::uint32_t mode,
                             nfs4::specdata4 device);

}  // namespace nfsrdma::client
