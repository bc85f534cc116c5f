// SECINFO and SECINFO_NO_NAME (RFC 8881 sections 18.29, 18.45): which security an export wants, to
// say it in the error of a mount that was refused with NFS4ERR_WRONGSEC.
#pragma once

#include <string>
#include <string_view>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// "sys, krb5p" of a name in a directory. Valid until the first suspension: `name`.
Task<Result<std::string>> flavours_of(RequestContext& context, Credential caller, FileHandle dir,
                                      std::string_view name);
/// The same of the server's root.
Task<Result<std::string>> flavours_of_root(RequestContext& context, Credential caller);

}  // namespace nfsrdma::client
