// OPEN (RFC 8881 section 18.16): of a file by handle (CLAIM_FH), by name (CLAIM_NULL), and with
// creation. No delegation is wanted; one that comes all the same is returned at once.
#pragma once

#include <cstdint>
#include <string_view>

#include "client/ops/set_attributes.h"
#include "client/state/open_state.h"
#include "client/types.h"

namespace nfsrdma::client {

class Mount;

struct Opened {
  FileHandle handle;
  Attributes attributes;
  OpenRef open;
  /// The server keeps an open file that was removed (OPEN4_RESULT_PRESERVE_UNLINKED).
  bool preserve_unlinked = false;
};

enum class CreateMode : std::uint8_t {
  unchecked,  ///< an existing file is opened
  guarded,    ///< an existing file is EEXIST; a lost reply is covered by the session's replay cache
  exclusive,  ///< EXCLUSIVE4_1: as guarded, and recognises its own earlier attempt by a verifier
};

/// share_access: OPEN4_SHARE_ACCESS_READ, _WRITE or _BOTH; nothing is denied.
Task<Result<Opened>> open(Mount& mount, Caller caller, FileHandle file, std::uint32_t share_access);
Task<Result<Opened>> open_by_name(Mount& mount, Caller caller, FileHandle dir,
                                  std::string_view name, std::uint32_t share_access);
/// `initial` is applied to a new file; of an existing one only size 0 is applied (unchecked).
Task<Result<Opened>> create(Mount& mount, Caller caller, FileHandle dir, std::string_view name,
                            CreateMode mode, SetAttributes initial, std::uint32_t share_access);

}  // namespace nfsrdma::client
