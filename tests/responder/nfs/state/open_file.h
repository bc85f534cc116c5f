// Gives an open-owner an open of a file, or adds to the one it has (RFC 8881 section 9.7 to 9.10).
#pragma once

#include "tests/responder/nfs/fs/credentials.h"
#include "tests/responder/nfs/state/state_table.h"

namespace nfsrdma::responder {

struct OpenRequest {
  Client& client;
  const Identity& who;
  std::string_view owner;
  FileRef file;
  Share share{};
  bool truncate = false;
  /// A reclaim or a retried exclusive create: a file that was open before must open again.
  bool owner_may_override = false;
};

/// Opens with the caller's rights: SHARE_DENIED, ACCESS and the like. `made` is the descriptor of a
/// file that the request has just created, else empty.
Outcome<OpenState*> grant_open(StateTable& states, FileTable& files, const OpenRequest& request,
                               UniqueFd made);

}  // namespace nfsrdma::responder
