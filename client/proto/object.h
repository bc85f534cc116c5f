// Names that the client's interface uses everywhere.
#pragma once

#include <cstdint>
#include <optional>

#include "client/proto/attributes.h"
#include "client/proto/types.h"
#include "transport/base/result.h"
#include "transport/base/task.h"
#include "transport/rpc/message.h"

namespace nfsrdma::client {

using FileHandle = nfs4::nfs_fh4;
using Attributes = nfs4::Attributes;
/// On whose behalf an operation is made: AUTH_SYS user, group and supplementary groups.
using Credential = rpc::Credential;

/// The attributes of an object after a request that changed it.
struct Changed {
  Attributes attributes;
  /// The change attribute before, in the same COMPOUND; not known when the server did not tell.
  std::optional<std::uint64_t> change_before;
};

/// An object and its attributes, as LOOKUP, CREATE and LINK find it.
struct Found {
  FileHandle handle;
  Attributes attributes;
};

/// From which version of a directory to which a change of its names led (RFC 8881 section 3.3.3).
/// Empty when it was made by an earlier attempt whose reply was lost.
using NameChange = std::optional<nfs4::change_info4>;

/// A name that was made, and the file it leads to.
struct Made : Found {
  NameChange directory;
};

}  // namespace nfsrdma::client
